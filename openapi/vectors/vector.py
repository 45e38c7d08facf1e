"""What one vector is made of: signed fields, a signature header, a body or a query, and an expectation.

Expectations are written by hand from the service's documentation and from the rules of verification. Only the digests
are computed, and only by `digest.py`.
"""

import json
from collections.abc import Callable
from typing import Any

from digest import hmac_hex

KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e'
OTHER_KEY = 'aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC'
THIRD_KEY = 'n0Yt5Rf8Wq1Zx4Cv7Bm2Lk9Jh3Gd6Sap'
FOURTH_KEY = 'Hq7Lw2Ez9Xc4Vb8Nm1Ad6Sf3Gj5Kp0Ru'

T = '1700000000'
T_MS = '1700000000000'
NOW_MS = 1_700_000_010_000
"""Ten seconds after T, so that an ordinary vector has age_seconds 10."""

NAMES = ['event', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status']
SIGNED = {
    'event': 'transaction.completed',
    'merchant_reference': 'ORD-1001',
    'internal_reference': 'INT-77',
    'transaction_type': 'COLLECTION',
    'transaction_status': 'COMPLETED',
}
UNSIGNED = {
    'id': 1001,
    'request_currency': 'UGX',
    'request_amount': 500,
    'transaction_currency': 'UGX',
    'transaction_amount': 500,
    'transaction_charge': 15,
    'transaction_account': '256772000001',
    'customer_name': 'Example Customer',
    'charge_customer': False,
    'total_credit': 485,
    'provider_code': 'example_mobile_money',
    'status_message': 'Transaction completed successfully',
}

COMMON = {name: UNSIGNED[name] for name in ['transaction_currency', 'transaction_amount', 'customer_name']}
"""What an ordinary body carries besides the signed fields: enough to look at, and a small file."""
ORDER = ['id', 'merchant_reference', 'internal_reference', 'transaction_type', 'request_currency', 'request_amount']
ORDER += ['transaction_currency', 'transaction_amount', 'transaction_charge', 'transaction_account', 'customer_name']
ORDER += ['charge_customer', 'total_credit', 'provider_code', 'transaction_status', 'status_message']

vectors: list[dict[str, Any]] = []


def fields(**changed: str) -> dict[str, str]:
    """The five signed fields, some of them changed."""
    unknown = set(changed) - set(NAMES)
    if unknown:
        raise SystemExit(f'not signed fields: {unknown}')
    return {**SIGNED, **changed}


def joined(signed: dict[str, str]) -> str:
    """The string that is signed (protocol §5.2, rule 2)."""
    return ':'.join(signed[name] for name in NAMES)


def digest(signed: dict[str, str] | str = SIGNED, key: str = KEY) -> str:
    """s for these fields, or for this very string."""
    text = signed if isinstance(signed, str) else joined(signed)
    return hmac_hex(key.encode('utf-8'), text.encode('utf-8'))


def header(signed: dict[str, str] | str = SIGNED, key: str = KEY, t: str = T) -> str:
    """The value of hmac-signature for these fields."""
    return f't={t},s={digest(signed, key)}'


def json_object(*members: str) -> str:
    """The JSON text of an object with these members, each of them raw JSON text; empty ones are left out."""
    return '{' + ','.join(filter(None, members)) + '}'


def raw_body(first: str = '', top: str = '', inner_first: str = '', inner: str = '', **changed: Any) -> str:
    """The JSON text of a callback. Every named field is raw JSON text; None leaves the field out.

    `first`, `top`, `inner_first` and `inner` are raw members at the start and at the end of the object and of
    the payload.
    """
    known = [*NAMES, *UNSIGNED]
    unknown = set(changed) - set(known)
    if unknown:
        raise SystemExit(f'not fields of a callback: {unknown}')
    value = {name: json.dumps(content) for name, content in {**COMMON, **SIGNED}.items()} | changed

    def members(names: list[str]) -> list[str]:
        return [f'"{name}":{value[name]}' for name in names if value.get(name) is not None]

    payload = json_object(inner_first, *members(ORDER), inner)
    return json_object(first, *members(['event']), f'"payload":{payload}', top)


def body(signed: dict[str, str] = SIGNED, **unsigned: Any) -> str:
    """The JSON text of a callback with these signed fields; unsigned ones may be changed (None: null)."""
    raw = {name: json.dumps(value, ensure_ascii=False) for name, value in signed.items()}
    return raw_body(**raw, **{name: json.dumps(value) for name, value in unsigned.items()})


def data(signed: dict[str, Any] = SIGNED, **unsigned: Any) -> dict[str, Any]:
    """The same as an object that a body parser has already made."""
    payload = {**COMMON, **unsigned, **{name: signed[name] for name in NAMES[1:] if name in signed}}
    return {**({'event': signed['event']} if 'event' in signed else {}), 'payload': payload}


def query(signed: dict[str, str] = SIGNED, signature: str | None = '', nested: bool = False, **extra: str) -> str:
    """A raw query text. Values are put in as they are: percent-encoding is the case's own business."""
    parts = []
    for name in NAMES:
        if name in signed:
            key = f'payload[{name}]' if nested and name != 'event' else name
            parts.append(f'{key}={signed[name]}')
    parts += [f'{name}={value}' for name, value in extra.items()]
    if signature is not None:
        parts.append(f'hmac_signature={signature or header(signed)}')
    return '&'.join(parts)


def ok(
    signed: dict[str, str] = SIGNED, unit: str = 'seconds', age: float | None = 10, key_id: str | None = None
) -> dict:
    expected: dict[str, Any] = {'ok': True, 'signed': signed}
    if key_id is not None:
        expected['key_id'] = key_id
    expected['timestamp_unit'] = unit
    if age is not None:
        expected['age_seconds'] = age
    return expected


def no(code: str, authentic: bool = False) -> dict:
    return {'ok': False, 'code': code, 'authentic': authentic}


ABSENT = object()
"""No `signature` at all, which a test hands over as undefined."""
DEFAULT = object()


def add(
    name: str,
    expect: dict,
    *,
    rule: str,
    channel: str = 'callback',
    threat: str | None = None,
    note: str | None = None,
    signature: Any = ABSENT,
    options: dict[str, Any] | None = None,
    **carried: Any,
) -> None:
    """Append one vector. `carried` is body_text, body_hex, body_json or query."""
    merged: dict[str, Any] = {'now_ms': NOW_MS, **(options or {})}
    if 'signing_keys' not in merged:
        merged = {'signing_key': KEY, **merged}
    vector: dict[str, Any] = {'name': name, 'rule': rule}
    if threat is not None:
        vector['threat'] = threat
    if note is not None:
        vector['note'] = note
    vector |= {'channel': channel, 'options': merged}
    if signature is not ABSENT:
        vector['signature'] = signature
    vectors.append(vector | carried | {'expect': expect})


def callback(
    name: str,
    body_text: str | None = None,
    expect: dict | None = None,
    *,
    signed: dict[str, str] = SIGNED,
    signature: Any = DEFAULT,
    **more: Any,
) -> None:
    """A callback: the genuine one with these signed fields, which verifies, as far as nothing else is given."""
    if body_text is not None or not {'body_hex', 'body_json'} & set(more):
        more['body_text'] = body(signed) if body_text is None else body_text
    add(name, expect or ok(signed), signature=header(signed) if signature is DEFAULT else signature, **more)


def redirect(
    name: str, text: str, expect: dict | None = None, *, signed: dict[str, str] = SIGNED, rule: str = 'D11', **more: Any
) -> None:
    """A redirect with this raw query text, which verifies with these signed fields unless an expectation is given."""
    add(name, expect or ok(signed), rule=rule, channel='redirect', query=text, **more)


def family(prefix: str, add_one: Callable[..., None] = callback, **shared: Any) -> Callable[..., None]:
    """Adds vectors whose names begin alike, and which have these arguments in common."""
    return lambda name, *content, **own: add_one(prefix + name, *content, **shared | own)
