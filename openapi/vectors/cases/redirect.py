"""Decisions D3 and D11: redirects carry the same signature, in a raw query text."""

from urllib.parse import quote

from vector import KEY, NAMES, OTHER_KEY, SIGNED, T, body, callback, digest, fields, header, no, ok, query, redirect

MISSING = no('signature_missing')
BAD_SIGNATURE = no('signature_malformed')
BAD_FIELD = no('signed_field_malformed')
S = digest()


def add_all() -> None:
    forms()
    signatures()
    missing_fields()
    rules_of_the_callback()
    expected_reference()


def forms() -> None:
    redirect('redirect: flat names', ok(), query())
    redirect('redirect: nested in payload[…]', ok(), query(nested=True))
    redirect('redirect: nested, brackets encoded', ok(), query(nested=True).replace('[', '%5B').replace(']', '%5D'))
    redirect(
        'redirect: nested, brackets encoded in lower case',
        ok(),
        query(nested=True).replace('[', '%5b').replace(']', '%5d'),
    )
    redirect('redirect: a question mark first', ok(), '?' + query())
    redirect('redirect: signature first', ok(), f'hmac_signature={header()}&{query(signature=None)}')
    parts = query().split('&')
    redirect('redirect: names in reverse', ok(), '&'.join(reversed(parts)))
    redirect('redirect: an encoded name', ok(), query().replace('event=', '%65vent='))
    redirect(
        'redirect: with the unsigned fields',
        ok(),
        query(transaction_amount='500', transaction_currency='UGX', id='1001'),
        rule='D1',
    )
    redirect('redirect: with another amount', ok(), query(transaction_amount='5000000'), rule='D1', threat='A2')
    redirect('redirect: with unknown parameters', ok(), query(utm_source='mail', utm_campaign='x', ref='1'), rule='D9')
    redirect('redirect: an unknown parameter twice', ok(), query() + '&utm=1&utm=2', rule='D9')
    redirect('redirect: an unknown parameter without =', ok(), query() + '&flag', rule='D9')
    redirect('redirect: an unknown nested field', ok(), query(nested=True) + '&payload[channel]=ussd', rule='D9')
    redirect(
        'redirect: __proto__ and constructor',
        ok(),
        query() + '&__proto__=x&constructor=y&toString=z',
        rule='D9',
        threat='A16',
    )
    redirect('redirect: __proto__ with a member', ok(), query() + '&__proto__[event]=x', rule='D9', threat='A16')
    redirect(
        'redirect: payload[__proto__]', ok(), query(nested=True) + '&payload[__proto__]=x', rule='D9', threat='A16'
    )
    silent = 'No decision covers empty pairs. They carry no name.'
    redirect('redirect: an ampersand at the end', ok(), query() + '&', note=silent)
    redirect('redirect: two ampersands', ok(), query().replace('&', '&&'), note=silent)
    redirect('redirect: the signature of the callback', ok(), query(), rule='D3', threat='A4')
    callback(
        'callback: the signature of the redirect',
        ok(),
        rule='D3',
        threat='A4',
        body_text=body(transaction_amount=5_000_000),
    )


def signatures() -> None:
    plain = query(signature=None)
    redirect('redirect: empty query', MISSING, '')
    redirect('redirect: a question mark alone', MISSING, '?')
    redirect('redirect: no hmac_signature', MISSING, plain)
    redirect('redirect: empty hmac_signature', MISSING, f'{plain}&hmac_signature=')
    redirect('redirect: hmac_signature without =', MISSING, f'{plain}&hmac_signature')
    redirect('redirect: the name of the header', MISSING, f'{plain}&hmac-signature={header()}')
    redirect('redirect: HMAC_SIGNATURE', MISSING, f'{plain}&HMAC_SIGNATURE={header()}')
    redirect(
        'redirect: signature inside payload',
        MISSING,
        f'{plain}&payload[hmac_signature]={header()}',
        note='The protocol has hmac_signature as a query parameter, not as a field of the payload.',
    )
    for name, value in [
        ('comma encoded', f't={T}%2Cs={S}'),
        ('comma encoded in lower case', f't={T}%2cs={S}'),
        ('equals signs encoded', f't%3D{T},s%3D{S}'),
        ('comma and equals signs encoded', f't%3D{T}%2Cs%3D{S}'),
        ('every character encoded', ''.join(f'%{ord(c):02X}' for c in header())),
        ('s first', f's={S},t={T}'),
        ('another part', f't={T},s={S},v=1'),
    ]:
        redirect(f'redirect signature: {name}', ok(), f'{plain}&hmac_signature={value}', rule='D6')
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
        ('257 characters', header() + ',v=' + 'x' * (257 - len(header()) - 3)),
        ('a trailing comma', header() + ','),
    ]:
        redirect(
            f'redirect signature: {name}',
            BAD_SIGNATURE,
            f'{plain}&hmac_signature={value}',
            rule='D6',
            threat='A13' if 'digit' in name else 'A11',
        )
    redirect(
        'redirect signature: 256 characters',
        ok(),
        f'{plain}&hmac_signature={header()},v=' + 'x' * (256 - len(header()) - 3),
        rule='D6',
    )
    redirect(
        'redirect signature: of another key',
        no('mismatch'),
        f'{plain}&hmac_signature={header(key=OTHER_KEY)}',
        rule='D6',
    )
    redirect(
        'redirect signature: an ampersand cuts it', BAD_SIGNATURE, f'{plain}&hmac_signature=t={T}&s={S}', rule='D6'
    )


def missing_fields() -> None:
    for field in NAMES:
        without = {name: value for name, value in SIGNED.items() if name != field}
        redirect(
            f'redirect: {field} missing',
            BAD_FIELD,
            query(without, header(fields(**{field: 'undefined'}))),
            rule='D5',
            threat='A7',
        )
    redirect('redirect: only the signature', BAD_FIELD, f'hmac_signature={header()}', rule='D5')
    redirect('redirect: Event in another case', BAD_FIELD, query().replace('event=', 'Event='), rule='D5')
    text = query(nested=True).replace('payload[merchant_reference]', 'data[merchant_reference]')
    redirect('redirect: a field in data[…]', BAD_FIELD, text, rule='D5')


def rules_of_the_callback() -> None:
    for written in ['A%3AB', 'A:B']:
        signed = fields(merchant_reference='A:B')
        text = query(fields(merchant_reference=written), header(signed))
        redirect(f'redirect: a colon written {written}', no('ambiguous', authentic=True), text, rule='D4', threat='A3')
        redirect(
            f'redirect: a colon written {written}, colonIn merchant',
            ok(signed),
            text,
            rule='D4',
            threat='A3',
            options={'colon_in': 'merchant_reference'},
        )
    shifted = query(
        fields(merchant_reference='ORD-9999', internal_reference='x:INT-77'),
        header(fields(merchant_reference='ORD-9999:x')),
    )
    redirect(
        'redirect: shifted reference, colonIn merchant',
        no('ambiguous', authentic=True),
        shifted,
        rule='D4',
        threat='A3',
        options={'colon_in': 'merchant_reference'},
    )
    redirect(
        'redirect: tolerance passed',
        no('timestamp_out_of_tolerance', authentic=True),
        query(),
        rule='D2',
        options={'tolerance_seconds': 5},
    )
    redirect('redirect: tolerance kept', ok(), query(), rule='D2', options={'tolerance_seconds': 10})
    redirect(
        'redirect: unreadable t, no tolerance',
        ok(unit='unreadable', age=None),
        query(signature=header(t='now')),
        rule='D2',
    )
    redirect(
        'redirect: unreadable t, with a tolerance',
        no('timestamp_unreadable', authentic=True),
        query(signature=header(t='now')),
        rule='D2',
        options={'tolerance_seconds': 30},
    )
    two = {'signing_keys': [{'id': 'new', 'key': OTHER_KEY}, {'id': 'old', 'key': KEY}]}
    redirect('redirect: signed with the second key', ok(key_id='old'), query(), rule='D7', threat='A20', options=two)
    ended = {'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]}
    redirect(
        'redirect: signed with a key that has ended',
        no('key_expired'),
        query(),
        rule='D7',
        threat='A20',
        options=ended,
    )
    signed = fields(transaction_status='SOMETHING_NEW')
    redirect('redirect: unknown status', ok(signed), query(signed), rule='D9')
    for field, value in [('merchant_reference', 'ORD-1002'), ('transaction_status', 'FAILED')]:
        redirect(f'redirect: {field} changed', no('mismatch'), query(fields(**{field: value}), header()), rule='D1')


def expected_reference() -> None:
    unexpected = no('reference_unexpected', authentic=True)

    def case(
        name: str, expect: dict, expected: str, reference: str = 'ORD-1001', written: str | None = None, **more
    ) -> None:
        signed = fields(merchant_reference=reference)
        text = query(fields(merchant_reference=reference if written is None else written), header(signed))
        redirect(
            f'redirect reference: {name}', expect, text, threat='A26', options={'expect_reference': expected}, **more
        )

    case('as expected', ok(), 'ORD-1001')
    case('of another session', unexpected, 'ORD-1002')
    case('a prefix', unexpected, 'ORD-100')
    case('longer', unexpected, 'ORD-10011')
    case('in another case', unexpected, 'ord-1001')
    case('with a space', unexpected, 'ORD-1001 ')
    case('empty expectation, a reference in the query', unexpected, '')
    case('empty expectation, an empty one in the query', ok(fields(merchant_reference='')), '', '')
    case('NFD expected, NFC in the query', unexpected, 'Cafe\u0301', 'Caf\u00e9', 'Caf%C3%A9')
    case('NFC expected, NFC in the query', ok(fields(merchant_reference='Caf\u00e9')), 'Caf\u00e9', 'Caf\u00e9', 'Caf%C3%A9')
    case('the internal one', unexpected, 'INT-77')
    redirect(
        'redirect reference: mismatch wins',
        no('mismatch'),
        query(signature=header(key=OTHER_KEY)),
        threat='A26',
        options={'expect_reference': 'ORD-1002'},
    )
    redirect(
        'redirect reference: a missing signature wins',
        MISSING,
        query(signature=None),
        threat='A26',
        options={'expect_reference': 'ORD-1002'},
    )
