"""Decision D11: percent-decoding of a raw query text, strict and the same everywhere."""

from vector import family, fields, header, no, query, redirect

BAD_QUERY = no('query_malformed')


def add_all() -> None:
    decoding()
    bad_escapes()


def decoding() -> None:
    def decoded(name: str, written: str, text: str, **more) -> None:
        signed = fields(merchant_reference=text)
        case(name, query(fields(merchant_reference=written), header(signed)), signed=signed, **more)

    case = family('redirect decoding: ', redirect, threat='A15')

    plus = 'A redirect is form encoding, where + is a space (as in every framework and in URLSearchParams).'
    decoded('+ is a space', 'ORD+1', 'ORD 1', note=plus)
    decoded('%20 is a space', 'ORD%201', 'ORD 1')
    decoded('%2B is a plus sign', 'ORD%2B1', 'ORD+1')
    decoded('%26 and %3D are text', 'A%26event%3Dx', 'A&event=x')
    decoded('an equals sign in a value', 'A=B=C', 'A=B=C')
    decoded('%2525 is decoded once', 'ORD%252501', 'ORD%2501')
    decoded('lower-case escapes', '%c3%a9', '\u00e9')
    decoded('UTF-8 of two bytes', 'Caf%C3%A9', 'Caf\u00e9')
    decoded('NFD stays NFD', 'Cafe%CC%81', 'Cafe\u0301')
    decoded('an emoji', '%F0%9F%98%80', '\U0001f600')
    decoded('a genuine U+FFFD', '%EF%BF%BD', '\ufffd')
    decoded('a BOM is kept', '%EF%BB%BFORD', '\ufeffORD', note='Only a body skips a BOM. In a value it is a character.')
    decoded('NUL', 'ORD%001', 'ORD\x001')
    decoded('CR LF', 'ORD%0D%0A', 'ORD\r\n')
    decoded('a semicolon does not separate', 'A;event=x', 'A;event=x')
    decoded('brackets in a value', 'A[0]', 'A[0]')
    decoded('a slash and a question mark', 'A/B?C', 'A/B?C')
    decoded('spaces at both ends', '%20ORD%20', ' ORD ')
    decoded('an empty value', '', '', rule='D5')
    signed = fields(merchant_reference='')
    text = query(signed).replace('merchant_reference=', 'merchant_reference')
    name = 'redirect decoding: a name without = is an empty value'
    redirect(name, text, signed=signed, rule='D5', note='As in every form decoder.')
    text = query(fields(merchant_reference='ORD+1'))
    case('an unencoded plus sign does not fit', text, no('mismatch'), note=plus)
    text = query(fields(merchant_reference='ORD%201'))
    case('the digest over the undecoded text', text, no('mismatch'))


def bad_escapes() -> None:
    refuse = family('redirect escapes: ', redirect, expect=BAD_QUERY, threat='A15')
    for name, escape, replaced in [
        ('%ZZ', '%ZZ', '%ZZ'),
        ('%F', '%F', '%F'),
        ('% alone', '%', '%'),
        ('%%', '%%', '%%'),
        ('%u0041', '%u0041', 'A'),
        ('%2 and a letter', '%2G', '%2G'),
        ('%FF', '%FF', '\ufffd'),
        ('%80', '%80', '\ufffd'),
        ('%C3 cut short', '%C3', '\ufffd'),
        ('%ED%A0%80, a surrogate', '%ED%A0%80', '\ufffd\ufffd\ufffd'),
        ('%C0%AF, overlong', '%C0%AF', '\ufffd\ufffd'),
        ('%F4%90%80%80, past the end', '%F4%90%80%80', '\ufffd' * 4),
        ('%E9, Latin-1', '%E9', '\u00e9'),
    ]:
        signed = fields(merchant_reference='ORD' + replaced)
        refuse(name, query(fields(merchant_reference='ORD' + escape), header(signed)))
    refuse('%FF in hmac_signature', query(signature=header() + '%FF'))
    everywhere = 'No decision covers escapes outside known fields. A query has one reading, or none.'
    refuse('%FF in an unknown parameter', query(utm='%FF'), note=everywhere)
    refuse('%ZZ in an unknown name', query() + '&%ZZ=1', note=everywhere)
