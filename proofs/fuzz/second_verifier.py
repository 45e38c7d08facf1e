#!/usr/bin/env python3
"""A second verifier: reads batches, one a line, and writes the list of their verdicts, one a line.

Written from docs/protocol.md §5.2 and the refusals that decisions D2, D4 to D7, D10 and D11 declare, by someone who had not
seen the one in packages/core. It works with tables, sets and the readers of Python. `pnpm lab fuzz` judges core with it, and
openapi/add-vector.py new vectors. A batch has the options of its inputs: {"options": {}, "inputs": [{"channel": "callback"}]}.

python3 proofs/fuzz/second_verifier.py < batches.jsonl      # verdicts, as JSON
python3 proofs/fuzz/second_verifier.py --vectors            # judges signature-vectors.json; exits with 1 on a difference
"""

import hashlib
import hmac
import json
import re
import sys
import threading
import unicodedata
from collections import Counter
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote_to_bytes

NAMES = ['event', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status']
SIGNED = {*NAMES, 'hmac_signature'}
DIGITS = re.compile(r'[0-9]+')
HASH = re.compile(r'[0-9a-f]{64}')
ESCAPES = re.compile(r'(?:[^%]|%[0-9A-Fa-f]{2})*', re.S)
NESTED = re.compile(r'payload\[(merchant_reference|internal_reference|transaction_type|transaction_status)\](\[.*)?', re.S)
FLAT = re.compile(rf'({"|".join(sorted(SIGNED))})(\[.*)?', re.S)


class Refused(Exception):
    """The third is another code, where the documents leave the order of two reasons open."""

    def __init__(self, code: str, authentic: bool = False, *others: str) -> None:
        self.verdict = [code, authentic, *others]


class Pairs(list):
    """The members of an object in the order of the file, repeated ones included."""


def no_constant(name: str) -> None:
    raise ValueError(name)


def joined_surrogates(text: str) -> str:
    """The two halves of a pair that were written in two ways are one character."""
    return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'surrogatepass')


def header_of(value: object) -> tuple[str, str]:
    if value is None or value == '':
        raise Refused('signature_missing')
    if not isinstance(value, str) or len(value.encode('utf-16-le', 'surrogatepass')) > 2 * 256:
        raise Refused('signature_malformed')
    parts = [part.split('=') for part in value.split(',')]
    odd = any(c.isspace() or c == '\ufeff' or unicodedata.category(c) == 'Cc' for c in value)
    if odd or any(len(part) != 2 or '' in part for part in parts):
        raise Refused('signature_malformed')
    count = Counter(name for name, _ in parts)
    found = dict(parts)
    if count['t'] != 1 or count['s'] != 1 or not HASH.fullmatch(found['s']):
        raise Refused('signature_malformed')
    return found['t'], found['s']


def text_of(vector: dict) -> str:
    if 'body_hex' in vector:
        try:
            text = bytes.fromhex(vector['body_hex']).decode('utf-8')
        except UnicodeDecodeError:
            raise Refused('body_malformed') from None
    else:
        text = vector['body_text']
    return text.removeprefix('\ufeff')


def claim_of(vector: dict) -> tuple[list[str], bool]:
    """The five fields of a callback, and whether a name that counts appears twice."""
    if 'body_json' in vector:
        root = vector['body_json']
    else:
        try:
            # Numbers stay strings of digits: Python limits their length, and no signed field is one.
            root = json.loads(
                text_of(vector),
                object_pairs_hook=Pairs,
                parse_int=lambda _: 0,
                parse_float=lambda _: 0,
                parse_constant=no_constant,
            )
        except ValueError:
            raise Refused('body_malformed') from None
    outer = dict(root) if isinstance(root, (dict, Pairs)) else {}
    payload = outer.get('payload')
    if not isinstance(payload, (dict, Pairs)):
        raise Refused('body_malformed')
    twice = repeated(root, {'event', 'payload'}) or repeated(payload, set(NAMES[1:]))
    inner = dict(payload)
    values = [outer.get('event'), *(inner.get(name) for name in NAMES[1:])]
    fields = [joined_surrogates(value) for value in values if isinstance(value, str)]
    if len(fields) != 5 or any('\ud800' <= c <= '\udfff' for field in fields for c in field):
        raise Refused('body_malformed', False, 'signed_field_malformed') if twice else Refused('signed_field_malformed')
    return fields, twice


def repeated(members: object, names: set[str]) -> bool:
    return isinstance(members, Pairs) and any(
        count > 1 for name, count in Counter(name for name, _ in members).items() if name in names
    )


def query_of(text: str) -> dict[str, str]:
    length = len(text.encode('utf-16-le', 'surrogatepass')) // 2
    # RFC 3986, section 3.4: a query ends at '#'.
    text = text.partition('#')[0]
    text = text.partition('?')[2] if re.match(r'/|https?://', text, re.I) else text.removeprefix('?')
    parts = text.split('&')
    pairs = [part.partition('=') for part in parts if part]
    if length > 8192 or len(parts) > 128:
        raise Refused('query_malformed')
    found: list[tuple[str, str]] = []
    for pair in pairs:
        name, value = decoded(pair[0]), decoded(pair[2])
        place = NESTED.fullmatch(name) or FLAT.fullmatch(name)
        if place:
            if place[2]:
                raise Refused('query_malformed')
            found.append((place[1], value))
    if len(dict(found)) != len(found):
        raise Refused('query_malformed')
    return dict(found)


def decoded(text: str) -> str:
    try:
        if ESCAPES.fullmatch(text):
            return unquote_to_bytes(text.replace('+', ' ')).decode('utf-8')
    except UnicodeDecodeError:
        pass
    raise Refused('query_malformed')


def verdict_on(vector: dict) -> list:
    options = vector['options']
    twice = False
    if vector['channel'] == 'redirect':
        query = query_of(vector['query'])
        t, s = header_of(query.get('hmac_signature'))
        given = options.get('redirect_defaults', {}) | query
        if not all(name in given for name in NAMES):
            raise Refused('signed_field_malformed')
        fields = [given[name] for name in NAMES]
    else:
        t, s = header_of(vector.get('signature'))
        fields, twice = claim_of(vector)
    keys = options.get('signing_keys') or [{'id': None, 'key': options['signing_key']}]
    message = ':'.join(fields).encode('utf-8')
    signers = [key for key in keys if digest(key['key'], message) == s]
    valid = [key for key in signers if options['now_ms'] <= end_of(key)]
    if twice:
        raise Refused('body_malformed', bool(valid))
    if not valid:
        raise Refused('key_expired' if signers else 'mismatch')
    if not has_one_reading(fields, options):
        raise Refused('ambiguous', True)
    is_number = DIGITS.fullmatch(t) is not None
    is_ms = is_number and int(t) >= 10**11
    if 'tolerance_seconds' in options:
        if not is_number:
            raise Refused('timestamp_unreadable', True)
        ms = int(t) * (1 if is_ms else 1000)
        if abs(options['now_ms'] - ms) > round(options['tolerance_seconds'] * 1000):
            raise Refused('timestamp_out_of_tolerance', True)
    expected = options.get('expect_reference')
    if vector['channel'] == 'redirect' and expected is not None and fields[1] != expected:
        raise Refused('reference_unexpected', True)
    unit = 'milliseconds' if is_ms else 'seconds' if is_number else 'unreadable'
    return ['ok', fields, valid[0]['id'], unit]


@lru_cache(1000)
def digest(key: str, message: bytes) -> str:
    return hmac.new(key.encode('utf-8'), message, hashlib.sha256).hexdigest()


def end_of(key: dict) -> float:
    if 'not_after' not in key:
        return float('inf')
    return round(datetime.fromisoformat(key['not_after']).timestamp() * 1000)


def has_one_reading(fields: list[str], options: dict) -> bool:
    allowed = options.get('colon_in')
    if any(':' in field for name, field in zip(NAMES, fields, strict=True) if name != allowed):
        return False
    pattern = options.get('merchant_reference_pattern')
    if pattern is None:
        return True
    # The `$` of Python also matches before a line feed at the end; that of ECMAScript does not.
    expression = re.compile(pattern.replace('$', r'\Z'))
    pieces = f'{fields[1]}:{fields[2]}'.split(':')
    readings = [':'.join(pieces[:count]) for count in range(1, len(pieces))]
    return [reading for reading in readings if expression.search(reading)] == [fields[1]]


def judge(vector: dict) -> list:
    try:
        return verdict_on(vector)
    except Refused as refused:
        return refused.verdict


def difference(vector: dict) -> str | None:
    """How the verdict on a vector differs from the one that it expects."""
    expect, verdict = vector['expect'], judge(vector)
    if expect['ok']:
        fields = [expect['signed'][name] for name in NAMES]
        key_id = expect.get('key_id', verdict[2] if verdict[0] == 'ok' else None)
        wanted = ['ok', fields, key_id, expect['timestamp_unit']]
    else:
        wanted = [expect['code'], expect['authentic']]
    return None if verdict[: len(wanted)] == wanted else f'{vector["name"]}: {verdict}, not {wanted}'


def judge_vectors() -> int:
    path = Path(__file__).resolve().parents[2] / 'openapi' / 'signature-vectors.json'
    vectors = json.loads(path.read_text(encoding='utf-8'))['vectors']
    wrong = [found for found in map(difference, vectors) if found]
    print('\n'.join([*wrong, f'{len(vectors)} vectors, {len(wrong)} differences']))
    return 1 if wrong else 0


def main() -> None:
    if sys.argv[1:] == ['--vectors']:
        status.append(judge_vectors())
        return
    for line in sys.stdin:
        batch = json.loads(line)
        options = batch['options']
        judged = [judge({**one, 'options': options | one.get('options', {})}) for one in batch['inputs']]
        print(json.dumps(judged))


if __name__ == '__main__':
    status: list[int] = []
    # Deep bodies: the reader of Python recurses.
    sys.setrecursionlimit(200_000)
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    sys.exit(sum(status))
