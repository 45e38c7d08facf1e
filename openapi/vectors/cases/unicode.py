"""Decisions D5 and D10: text is signed as UTF-8, well-formed, and never normalised."""

from digest import hmac_hex
from vector import KEY, NAMES, SIGNED, T, body, callback, data, digest, family, fields, header, joined, no, raw_body

BAD_FIELD = no('signed_field_malformed')
BAD_BODY = no('body_malformed')
MISMATCH = no('mismatch')


def kept(name: str, text: str, field: str = 'merchant_reference', **more) -> None:
    """The string, unchanged, in one signed field; unescaped in the JSON wherever JSON allows it."""
    callback(f'unicode: {name}', signed=fields(**{field: text}), rule='D5', **more)


def add_all() -> None:
    text_is_kept()
    normal_forms()
    surrogates()
    bytes_of_the_body()
    byte_order_mark()
    other_encodings()


def text_is_kept() -> None:
    for name, text in [
        ('Latin with accents', 'Z\u00fcrich-\u00e9'),
        ('Cyrillic', '\u0417\u0430\u043a\u0430\u0437-1'),
        ('Chinese', '\u8ba2\u5355-1'),
        ('Arabic, right to left', '\u0637\u0644\u0628-\u0661'),
        ('Hebrew with a direction mark', '\u05d4\u200f-1\u202e2'),
        ('an emoji', 'ORD-\U0001f600'),
        ('an emoji of several code points', '\U0001f469\u200d\U0001f469\u200d\U0001f467'),
        ('a flag', '\U0001f1fa\U0001f1ec'),
        ('a combining mark alone', '\u0301'),
        ('a zero-width space', 'OR\u200bD'),
        ('the last code point', 'x\U0010ffff'),
        ('noncharacters', '\ufffe\uffff'),
        ('a genuine U+FFFD', 'ORD-\ufffd'),
        ('three genuine U+FFFD', '\ufffd' * 3),
        ('line and paragraph separators', 'a\u2028b\u2029c'),
        ('a BOM inside a field', '\ufeffORD-1001'),
        ('NUL', 'ORD\0001'),
        ('NUL alone', '\0'),
        ('escape and bell', '\x1b[2J\a'),
        ('delete and C1 controls', 'a\x7fb\x9f'),
        ('a line feed', 'ORD\n1'),
        ('CR LF at the end', 'ORD-1\r\n'),
        ('a tab', '\tORD'),
        ('leading and trailing spaces', '  ORD-1001  '),
        ('one space', ' '),
        ('no-break spaces', '\u00a0ORD\u00a0'),
        ('quotes and backslashes', '"\\/\'`'),
        ('markup', '<script>alert(1)</script>'),
        ('a percent escape', 'ORD%3A1'),
        ('a JSON text', '["event",{}]'),
        ('a comma and an equals sign', 't=1,s=2'),
    ]:
        kept(name, text)
    kept('an emoji in the event', 'transaction.completed\U0001f600', 'event')
    kept('a NUL in the status', 'COMPLETED\0', 'transaction_status', threat='A10')
    kept('8,192 ASCII characters', 'x' * 8192)
    kept('2,048 emoji', '\U0001f600' * 2048)
    rest = len(body(fields(merchant_reference='')).encode())
    kept('a reference that fills a body of exactly 64 KiB', 'r' * (65536 - rest), threat='A18')
    template = body(fields(merchant_reference='@'))
    escaped = template.replace('@', '\\ud83d\\ude00\\u00e9\\u0000\\/\\u0041')
    kept('JSON escapes are decoded', '\U0001f600\u00e9\0/A', body_text=escaped)
    kept('JSON escapes in upper case', '\U0001f600', body_text=template.replace('@', '\\uD83D\\uDE00'))
    kept('an escaped backslash before u0041', '\\u0041')
    parsed = data(fields(merchant_reference='\U0001f600\0'))
    kept('parsed body with an emoji and NUL', '\U0001f600\0', body_json=parsed)


def normal_forms() -> None:
    def mismatch(name: str, signed: str, sent: str) -> None:
        text, signature = body(fields(merchant_reference=sent)), header(fields(merchant_reference=signed))
        callback(f'unicode: {name}', text, MISMATCH, rule='D5', threat='A9', signature=signature)

    pairs = [
        ('NFC', 'Caf\u00e9', 'NFD', 'Cafe\u0301'),
        ('an Angstrom sign', '\u212b', 'A with ring', '\u00c5'),
        ('a ligature', 'o\ufb01', 'two letters', 'ofi'),
        ('Hangul syllables', '\ud55c', 'Hangul letters', '\u1112\u1161\u11ab'),
        ('sharp s', 'stra\u00dfe', 'ss', 'strasse'),
        ('full-width digits', '\uff11', 'ASCII digits', '1'),
        ('upper case', 'ORD-A', 'lower case', 'ord-a'),
        ('dotted capital I', '\u0130', 'i with dot above', 'i\u0307'),
        ('Cyrillic A', '\u0410', 'Latin A', 'A'),
        ('trailing space', 'ORD ', 'no trailing space', 'ORD'),
        ('trailing NUL', 'ORD\0', 'no trailing NUL', 'ORD'),
    ]
    for left_name, left, right_name, right in pairs:
        mismatch(f'signed as {left_name}, sent as {right_name}', left, right)
        mismatch(f'signed as {right_name}, sent as {left_name}', right, left)
    for name, text in [('NFC', 'Caf\u00e9'), ('NFD', 'Cafe\u0301')]:
        kept(f'{name} under its own signature', text, threat='A9')


def surrogates() -> None:
    """A lenient encoder turns each of these into U+FFFD, which is what the signature is made over."""

    def lone(name: str, escapes: str, replaced: str, field: str = 'merchant_reference') -> None:
        text, signature = raw_body(**{field: f'"{escapes}"'}), header(fields(**{field: replaced}))
        callback(f'surrogates: {name}', text, BAD_FIELD, rule='D5', threat='A8', signature=signature)

    for field in NAMES:
        lone(f'a lone high one in {field}', SIGNED[field] + '\\ud800', SIGNED[field] + '\ufffd', field)
    lone('a lone low one', '\\udfff', '\ufffd')
    lone('a lone high one, last of its range', 'x\\udbffy', 'x\ufffdy')
    lone('low before high', '\\udc00\\ud800', '\ufffd\ufffd')
    lone('two high ones', '\\ud800\\ud801', '\ufffd\ufffd')
    lone('a high one before a pair', '\\ud83d\\ud83d\\ude00', '\ufffd\U0001f600')
    lone('a high one before an escaped backslash', '\\ud83d\\\\ude00', '\ufffd\\ude00')
    lone('a lone one, signed without it', 'ORD-1001\\ud800', 'ORD-1001')
    fine = family('surrogates: ', rule='D9', threat='A10')
    fine('a lone one in an unsigned field', raw_body(customer_name='"\\ud800"'))
    fine('a lone one in an unsigned name', raw_body(inner='"x\\udfff":1'))


def refuse(name: str, raw: bytes, threat: str | None = 'A8', **more) -> None:
    callback(f'bytes: {name}', expect=BAD_BODY, rule='D10', threat=threat, body_hex=raw.hex(), **more)


def bytes_of_the_body() -> None:
    """Bytes that are not UTF-8; the signature is made over what a lenient decoder would read."""

    def invalid(name: str, sequence: bytes, replaced: str) -> None:
        raw = body(fields(merchant_reference='ORD@')).encode().replace(b'@', sequence)
        refuse(name, raw, signature=header(fields(merchant_reference='ORD' + replaced)))

    invalid('FF', b'\xff', '\ufffd')
    invalid('a lone continuation byte', b'\x80', '\ufffd')
    invalid('Latin-1', 'é'.encode('latin-1'), '\ufffd')
    invalid('a sequence cut short', b'\xe2\x82', '\ufffd')
    invalid('an overlong slash', b'\xc0\xaf', '\ufffd\ufffd')
    invalid('an overlong NUL', b'\xc0\x80', '\ufffd\ufffd')
    invalid('a surrogate in UTF-8', b'\xed\xa0\x80', '\ufffd\ufffd\ufffd')
    invalid('a surrogate pair in UTF-8', b'\xed\xa0\xbd\xed\xb8\x80', '\ufffd' * 6)
    invalid('past the last code point', b'\xf4\x90\x80\x80', '\ufffd' * 4)
    refuse('FF in an unsigned field', raw_body(customer_name='"@"').encode().replace(b'@', b'\xff'))
    refuse('FF after the JSON', body().encode() + b'\xff')
    refuse('none', b'', None)
    signed = fields(merchant_reference='Z\u00fcrich \U0001f600')
    callback('bytes: valid UTF-8', signed=signed, rule='D10', body_hex=body(signed).encode().hex())


def byte_order_mark() -> None:
    bom = b'\xef\xbb\xbf'
    fine = family('bytes: ', rule='D10')
    fine('a leading BOM is skipped', body_hex=(bom + body().encode()).hex())
    silent = 'The decisions say nothing about strings. A string and its bytes get one verdict.'
    fine('a leading BOM of a body that is already text', '\ufeff' + body(), note=silent)
    refuse('a second BOM is not', bom + bom + body().encode(), None)
    refuse('a BOM at the end', body().encode() + bom, None)
    refuse('a BOM alone', bom, None)
    for encoding in ['utf-16-le', 'utf-16-be', 'utf-32-le']:
        refuse(f'{encoding} with its BOM', ('\ufeff' + raw_body()).encode(encoding))


def other_encodings() -> None:
    """Digests over other bytes than the UTF-8 of the signed string."""
    signed = fields(merchant_reference='Z\u00fcrich')
    text = joined(signed)
    for name, s in [
        ('latin-1', hmac_hex(KEY.encode(), text.encode('latin-1'))),
        ('utf-16-le', hmac_hex(KEY.encode(), text.encode('utf-16-le'))),
        ('the JSON escapes', digest(text.replace('\u00fc', '\\u00fc'))),
    ]:
        callback(f'unicode: digest over {name}', body(signed), MISMATCH, rule='D5', signature=f't={T},s={s}')
