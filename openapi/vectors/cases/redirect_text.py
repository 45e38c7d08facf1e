"""Decision D11: percent-decoding of a raw query text, strict and the same everywhere."""

from vector import fields, header, no, ok, query, redirect

BAD_QUERY = no('query_malformed')


def add_all() -> None:
    decoding()
    bad_escapes()


def decoding() -> None:
    def decoded(name: str, written: str, text: str, **more) -> None:
        signed = fields(merchant_reference=text)
        redirect(
            f'redirect decoding: {name}',
            ok(signed),
            query(fields(merchant_reference=written), header(signed)),
            threat='A15',
            **more,
        )

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
    redirect(
        'redirect decoding: a name without = is an empty value',
        ok(signed),
        query(signed).replace('merchant_reference=', 'merchant_reference'),
        rule='D5',
        note='As in every form decoder.',
    )
    signed = fields(merchant_reference='ORD+1')
    redirect(
        'redirect decoding: an unencoded plus sign does not fit', no('mismatch'), query(signed), threat='A15', note=plus
    )
    signed = fields(merchant_reference='ORD%201')
    redirect('redirect decoding: the digest over the undecoded text', no('mismatch'), query(signed), threat='A15')


def bad_escapes() -> None:
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
        redirect(
            f'redirect escapes: {name}',
            BAD_QUERY,
            query(fields(merchant_reference='ORD' + escape), header(signed)),
            threat='A15',
        )
    redirect('redirect escapes: %FF in hmac_signature', BAD_QUERY, query(signature=header() + '%FF'), threat='A15')
    everywhere = 'No decision covers escapes outside known fields. A query has one reading, or none.'
    redirect(
        'redirect escapes: %FF in an unknown parameter', BAD_QUERY, query(utm='%FF'), threat='A15', note=everywhere
    )
    redirect('redirect escapes: %ZZ in an unknown name', BAD_QUERY, query() + '&%ZZ=1', threat='A15', note=everywhere)
