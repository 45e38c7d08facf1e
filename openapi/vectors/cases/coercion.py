"""Decision D5: a signed field is an own, well-formed string; what stringifies alike is refused."""

from vector import NAMES, SIGNED, callback, data, family, fields, header, no, raw_body

BAD = no('signed_field_malformed')


def coerced(name: str, field: str, raw: str | None, as_text: str) -> None:
    """The body has `raw` where a string must be; the signature is the one that a coercing verifier wants."""
    signature = header(fields(**{field: as_text}))
    callback(f'coercion: {name}', raw_body(**{field: raw}), BAD, rule='D5', threat='A7', signature=signature)


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
        callback(f'coercion: the string "{text}" is a string', signed=signed, rule='D5', threat='A7')
    for field in NAMES:
        callback(f'coercion: an empty {field} verifies', signed=fields(**{field: ''}), rule='D5')
    callback('coercion: five empty strings verify', signed=dict.fromkeys(NAMES, ''), rule='D5')
    callback(
        'coercion: another string under the signature is a mismatch',
        expect=no('mismatch'),
        signed=fields(merchant_reference='1001'),
        signature=header(),
        rule='D5',
    )


def places() -> None:
    def elsewhere(name: str, field: str, told: str = 'is not the signed field', threat: str = 'A7', **other) -> None:
        callback(f'coercion: {name} {told}', raw_body(**{field: None, **other}), BAD, rule='D5', threat=threat)

    reference, completed = '"merchant_reference":"ORD-1001"', '"event":"transaction.completed"'
    elsewhere('merchant_reference beside payload', 'merchant_reference', top=reference)
    elsewhere('merchant_reference inside a nested object', 'merchant_reference', inner=f'"data":{{{reference}}}')
    elsewhere('merchant_reference inside __proto__', 'merchant_reference', inner=f'"__proto__":{{{reference}}}')
    elsewhere('event inside payload only', 'event', inner=completed)
    elsewhere('event inside __proto__', 'event', top=f'"__proto__":{{{completed}}}')
    elsewhere('event in another case', 'event', top='"Event":"transaction.completed"')
    for name, written in [
        ('merchantReference in camel case', 'merchantReference'),
        ('merchant_reference with a space in its name', 'merchant_reference '),
        ('merchant_reference with a BOM in its name', '\ufeffmerchant_reference'),
    ]:
        elsewhere(name, 'merchant_reference', inner=f'"{written}":"ORD-1001"')
    for name in ['toString', 'constructor']:
        inner = f'"{name}":"ORD-1001"'
        elsewhere(name, 'merchant_reference', 'does not replace a field', threat='A16', inner=inner)


def parsed() -> None:
    def odd(name: str, value, as_text: str) -> None:
        signature = header(fields(internal_reference=as_text))
        refuse(name, signature=signature, body_json=data({**SIGNED, 'internal_reference': value}))

    refuse = family('coercion: parsed body, ', expect=BAD, rule='D5', threat='A7')
    odd('a number', 77, '77')
    odd('null', None, 'null')
    odd('an array of one string', ['INT-77'], 'INT-77')
    odd('an object', {'value': 'INT-77'}, '[object Object]')
    odd('false', False, 'false')
    missing = {name: value for name, value in SIGNED.items() if name != 'internal_reference'}
    signature = header(fields(internal_reference='undefined'))
    refuse('internal_reference missing', signature=signature, body_json=data(missing))
    signed = fields(internal_reference='')
    callback('coercion: parsed body, an empty string verifies', signed=signed, rule='D5', body_json=data(signed))
