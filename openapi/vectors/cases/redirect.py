"""Decisions D3 and D11: redirects carry the same signature, in a raw query text."""

from urllib.parse import quote

from vector import KEY, NAMES, OTHER_KEY, SIGNED, T, body, callback, digest, family, fields, header, no, ok, query
from vector import redirect

MISSING = no('signature_missing')
BAD_SIGNATURE = no('signature_malformed')
BAD_FIELD = no('signed_field_malformed')
S = digest()
case = family('redirect: ', redirect)


def add_all() -> None:
    forms()
    signatures()
    missing_fields()
    rules_of_the_callback()
    expected_reference()


def forms() -> None:
    nested = query(nested=True)
    case('flat names', query())
    case('nested in payload[…]', nested)
    case('nested, brackets encoded', nested.replace('[', '%5B').replace(']', '%5D'))
    case('nested, brackets encoded in lower case', nested.replace('[', '%5b').replace(']', '%5d'))
    case('a question mark first', '?' + query())
    case('signature first', f'hmac_signature={header()}&{query(signature=None)}')
    case('names in reverse', '&'.join(reversed(query().split('&'))))
    case('an encoded name', query().replace('event=', '%65vent='))
    unsigned = query(transaction_amount='500', transaction_currency='UGX', id='1001')
    case('with the unsigned fields', unsigned, rule='D1')
    case('with another amount', query(transaction_amount='5000000'), rule='D1', threat='A2')
    case('with unknown parameters', query(utm_source='mail', utm_campaign='x', ref='1'), rule='D9')
    case('an unknown parameter twice', query() + '&utm=1&utm=2', rule='D9')
    case('an unknown parameter without =', query() + '&flag', rule='D9')
    case('an unknown nested field', nested + '&payload[channel]=ussd', rule='D9')
    inherited = query() + '&__proto__=x&constructor=y&toString=z'
    case('__proto__ and constructor', inherited, rule='D9', threat='A16')
    case('__proto__ with a member', query() + '&__proto__[event]=x', rule='D9', threat='A16')
    case('payload[__proto__]', nested + '&payload[__proto__]=x', rule='D9', threat='A16')
    silent = 'No decision covers empty pairs. They carry no name.'
    case('an ampersand at the end', query() + '&', note=silent)
    case('two ampersands', query().replace('&', '&&'), note=silent)
    case('the signature of the callback', query(), rule='D3', threat='A4')
    of_redirect = body(transaction_amount=5_000_000)
    callback('callback: the signature of the redirect', of_redirect, rule='D3', threat='A4')


def signatures() -> None:
    plain = query(signature=None)
    case('empty query', '', MISSING)
    case('a question mark alone', '?', MISSING)
    case('no hmac_signature', plain, MISSING)
    case('empty hmac_signature', f'{plain}&hmac_signature=', MISSING)
    case('hmac_signature without =', f'{plain}&hmac_signature', MISSING)
    case('the name of the header', f'{plain}&hmac-signature={header()}', MISSING)
    case('HMAC_SIGNATURE', f'{plain}&HMAC_SIGNATURE={header()}', MISSING)
    parameter = 'The protocol has hmac_signature as a query parameter, not as a field of the payload.'
    case('signature inside payload', f'{plain}&payload[hmac_signature]={header()}', MISSING, note=parameter)

    def signed(name: str, value: str, expect: dict = BAD_SIGNATURE, **more) -> None:
        redirect(f'redirect signature: {name}', f'{plain}&hmac_signature={value}', expect, rule='D6', **more)

    for name, value in [
        ('comma encoded', f't={T}%2Cs={S}'),
        ('comma encoded in lower case', f't={T}%2cs={S}'),
        ('equals signs encoded', f't%3D{T},s%3D{S}'),
        ('comma and equals signs encoded', f't%3D{T}%2Cs%3D{S}'),
        ('every character encoded', ''.join(f'%{ord(c):02X}' for c in header())),
        ('s first', f's={S},t={T}'),
        ('another part', f't={T},s={S},v=1'),
    ]:
        signed(name, value, ok())
    for name, value in [
        ('nonsense', 'nonsense'),
        ('encoded twice', f't%253D{T}%252Cs%253D{S}'),
        ('a plus sign after the comma', f't={T},+s={S}'),
        ('an encoded space after the comma', f't={T},%20s={S}'),
        ('an encoded line feed at the end', f't={T},s={S}%0A'),
        ('an encoded NUL at the end', f't={T},s={S}%00'),
        ('a second s', f't={T},s={S},s={S}'),
        ('a second t', f't={T},s={S},t=1'),
        ('upper-case digits', f't={T},s={S.upper()}'),
        ('63 digits', f't={T},s={S[:63]}'),
        ('65 digits', f't={T},s={S}0'),
        ('code points 256 above each digit', f't={T},s=' + quote(''.join(chr(0x100 + ord(c)) for c in S))),
        ('one code point 256 above the digit', f't={T},s={S[:63]}' + quote(chr(0x100 + ord(S[63])))),
        ('= after the digest', f't={T},s={S}='),
        ('no t', f's={S}'),
        ('no s', f't={T}'),
        ('empty t', f't=,s={S}'),
        ('257 characters', f'{header()},v='.ljust(257, 'x')),
        ('a trailing comma', header() + ','),
    ]:
        signed(name, value, threat='A13' if 'digit' in name else 'A11')
    signed('256 characters', f'{header()},v='.ljust(256, 'x'), ok())
    signed('of another key', header(key=OTHER_KEY), no('mismatch'))
    signed('an ampersand cuts it', f't={T}&s={S}')


def missing_fields() -> None:
    for field in NAMES:
        without = {name: value for name, value in SIGNED.items() if name != field}
        text = query(without, header(fields(**{field: 'undefined'})))
        case(f'{field} missing', text, BAD_FIELD, rule='D5', threat='A7')
    case('only the signature', f'hmac_signature={header()}', BAD_FIELD, rule='D5')
    case('Event in another case', query().replace('event=', 'Event='), BAD_FIELD, rule='D5')
    text = query(nested=True).replace('payload[merchant_reference]', 'data[merchant_reference]')
    case('a field in data[…]', text, BAD_FIELD, rule='D5')


def rules_of_the_callback() -> None:
    ambiguous = no('ambiguous', authentic=True)
    colon = family('redirect: ', redirect, rule='D4', threat='A3')
    merchant = {'colon_in': 'merchant_reference'}
    for written in ['A%3AB', 'A:B']:
        signed = fields(merchant_reference='A:B')
        text = query(fields(merchant_reference=written), header(signed))
        colon(f'a colon written {written}', text, ambiguous)
        colon(f'a colon written {written}, colonIn merchant', text, signed=signed, options=merchant)
    paid = fields(merchant_reference='ORD-9999:x')
    shifted = query(fields(merchant_reference='ORD-9999', internal_reference='x:INT-77'), header(paid))
    colon('shifted reference, colonIn merchant', shifted, ambiguous, options=merchant)
    late = no('timestamp_out_of_tolerance', authentic=True)
    case('tolerance passed', query(), late, rule='D2', options={'tolerance_seconds': 5})
    case('tolerance kept', query(), rule='D2', options={'tolerance_seconds': 10})
    now = query(signature=header(t='now'))
    case('unreadable t, no tolerance', now, ok(unit='unreadable', age=None), rule='D2')
    unreadable = no('timestamp_unreadable', authentic=True)
    case('unreadable t, with a tolerance', now, unreadable, rule='D2', options={'tolerance_seconds': 30})
    two = {'signing_keys': [{'id': 'new', 'key': OTHER_KEY}, {'id': 'old', 'key': KEY}]}
    case('signed with the second key', query(), ok(key_id='old'), rule='D7', threat='A20', options=two)
    ended = {'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]}
    expired = no('key_expired')
    case('signed with a key that has ended', query(), expired, rule='D7', threat='A20', options=ended)
    signed = fields(transaction_status='SOMETHING_NEW')
    case('unknown status', query(signed), signed=signed, rule='D9')
    for field, value in [('merchant_reference', 'ORD-1002'), ('transaction_status', 'FAILED')]:
        case(f'{field} changed', query(fields(**{field: value}), header()), no('mismatch'), rule='D1')


def expected_reference() -> None:
    unexpected = no('reference_unexpected', authentic=True)

    def expecting(name: str, expect: dict, expected: str, text: str = query()) -> None:
        redirect(f'redirect reference: {name}', text, expect, threat='A26', options={'expect_reference': expected})

    expecting('as expected', ok(), 'ORD-1001')
    expecting('of another session', unexpected, 'ORD-1002')
    expecting('a prefix', unexpected, 'ORD-100')
    expecting('longer', unexpected, 'ORD-10011')
    expecting('in another case', unexpected, 'ord-1001')
    expecting('with a space', unexpected, 'ORD-1001 ')
    expecting('empty expectation, a reference in the query', unexpected, '')
    empty = fields(merchant_reference='')
    expecting('empty expectation, an empty one in the query', ok(empty), '', query(empty))
    composed = fields(merchant_reference='Caf\u00e9')
    written = query(fields(merchant_reference='Caf%C3%A9'), header(composed))
    expecting('NFD expected, NFC in the query', unexpected, 'Cafe\u0301', written)
    expecting('NFC expected, NFC in the query', ok(composed), 'Caf\u00e9', written)
    expecting('the internal one', unexpected, 'INT-77')
    expecting('mismatch wins', no('mismatch'), 'ORD-1002', query(signature=header(key=OTHER_KEY)))
    expecting('a missing signature wins', MISSING, 'ORD-1002', query(signature=None))
