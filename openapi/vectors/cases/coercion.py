"""Decision D5: a signed field is an own, well-formed string; what stringifies alike is refused."""

from vector import NAMES, SIGNED, body, callback, data, fields, header, no, ok, raw_body

BAD = no('signed_field_malformed')


def coerced(name: str, field: str, raw: str | None, as_text: str, **more) -> None:
    """The body has `raw` where a string must be; the signature is the one that a coercing verifier wants."""
    callback(
        f'coercion: {name}',
        BAD,
        rule='D5',
        threat='A7',
        signature=header(fields(**{field: as_text})),
        body_text=raw_body(**{field: raw}),
        **more,
    )


def add_all() -> None:
    for field in NAMES:
        coerced(f'{field} missing, signed as undefined', field, None, 'undefined')
        coerced(f'{field} missing, signed as empty', field, None, '')
        coerced(f'{field} null, signed as null', field, 'null', 'null')
        coerced(f'{field} null, signed as empty', field, 'null', '')
        coerced(f'{field} a number', field, '1001', '1001')
        coerced(f'{field} an array of one string', field, f'["{SIGNED[field]}"]', SIGNED[field])
        coerced(f'{field} an object', field, '{}', '[object Object]')
        coerced(f'{field} true', field, 'true', 'true')
    values()
    strings()
    places()
    parsed()


def values() -> None:
    field = 'merchant_reference'
    coerced('false', field, 'false', 'false')
    coerced('zero', field, '0', '0')
    coerced('minus zero', field, '-0', '0')
    coerced('a fraction', field, '1.50', '1.5')
    coerced('an exponent', field, '1e3', '1000')
    coerced('a number past 2^53', field, '12345678901234567891', '12345678901234567000')
    coerced('a number past 2^53, signed as written', field, '12345678901234567891', '12345678901234567891')
    coerced('a number past the largest double', field, '1e400', 'Infinity')
    coerced('an empty array', field, '[]', '')
    coerced('an array of null', field, '[null]', '')
    coerced('an array of two strings', field, '["ORD","1001"]', 'ORD,1001')
    coerced('an array in an array', field, '[["ORD-1001"]]', 'ORD-1001')
    coerced('an array of a number', field, '[1001]', '1001')
    coerced('an object with a toString member', field, '{"toString":"ORD-1001"}', 'ORD-1001')
    coerced('an object with length and indexes', field, '{"0":"O","length":1}', 'O')


def strings() -> None:
    for text in ['undefined', 'null', 'true', '1001', '[object Object]', 'NaN', '0']:
        signed = fields(merchant_reference=text)
        callback(
            f'coercion: the string "{text}" is a string',
            ok(signed),
            rule='D5',
            threat='A7',
            signature=header(signed),
            body_text=body(signed),
        )
    for field in NAMES:
        signed = fields(**{field: ''})
        callback(
            f'coercion: an empty {field} verifies',
            ok(signed),
            rule='D5',
            signature=header(signed),
            body_text=body(signed),
        )
    empty = dict.fromkeys(NAMES, '')
    callback(
        'coercion: five empty strings verify',
        ok(empty),
        rule='D5',
        signature=header(empty),
        body_text=body(empty),
    )
    callback(
        'coercion: another string under the signature is a mismatch',
        no('mismatch'),
        rule='D5',
        body_text=body(fields(merchant_reference='1001')),
    )


def places() -> None:
    quoted = '"merchant_reference":"ORD-1001"'
    for name, text in [
        ('merchant_reference beside payload', raw_body(top=quoted, merchant_reference=None)),
        ('merchant_reference inside a nested object', raw_body(inner=f'"data":{{{quoted}}}', merchant_reference=None)),
        ('merchant_reference inside __proto__', raw_body(inner=f'"__proto__":{{{quoted}}}', merchant_reference=None)),
        ('event inside payload only', raw_body(inner='"event":"transaction.completed"', event=None)),
        ('event inside __proto__', raw_body(top='"__proto__":{"event":"transaction.completed"}', event=None)),
        ('event in another case', raw_body(top='"Event":"transaction.completed"', event=None)),
        ('merchantReference in camel case', raw_body(inner='"merchantReference":"ORD-1001"', merchant_reference=None)),
        (
            'merchant_reference with a space in its name',
            raw_body(inner='"merchant_reference ":"ORD-1001"', merchant_reference=None),
        ),
        (
            'merchant_reference with a BOM in its name',
            raw_body(inner='"\ufeffmerchant_reference":"ORD-1001"', merchant_reference=None),
        ),
    ]:
        callback(f'coercion: {name} is not the signed field', BAD, rule='D5', threat='A7', body_text=text)
    for inherited in ['toString', 'constructor']:
        text = raw_body(merchant_reference=None, inner=f'"{inherited}":"ORD-1001"')
        callback(f'coercion: {inherited} does not replace a field', BAD, rule='D5', threat='A16', body_text=text)


def parsed() -> None:
    def odd(name: str, value, as_text: str) -> None:
        callback(
            f'coercion: parsed body, {name}',
            BAD,
            rule='D5',
            threat='A7',
            signature=header(fields(internal_reference=as_text)),
            body_json=data({**SIGNED, 'internal_reference': value}),
        )

    odd('a number', 77, '77')
    odd('null', None, 'null')
    odd('an array of one string', ['INT-77'], 'INT-77')
    odd('an object', {'value': 'INT-77'}, '[object Object]')
    odd('false', False, 'false')
    missing = {name: value for name, value in SIGNED.items() if name != 'internal_reference'}
    callback(
        'coercion: parsed body, internal_reference missing',
        BAD,
        rule='D5',
        threat='A7',
        signature=header(fields(internal_reference='undefined')),
        body_json=data(missing),
    )
    signed = fields(internal_reference='')
    callback(
        'coercion: parsed body, an empty string verifies',
        ok(signed),
        rule='D5',
        signature=header(signed),
        body_json=data(signed),
    )
