"""Decision D10: what is a callback's body, and duplicate names in it."""

from vector import KEY, OTHER_KEY, SIGNED, UNSIGNED, body, callback, data, fields, header, no, ok, raw_body

BAD = no('body_malformed')
BAD_BUT_SIGNED = no('body_malformed', authentic=True)
FOUR = '{"merchant_reference":"A","internal_reference":"B","transaction_type":"C","transaction_status":"D"}'


def add_all() -> None:
    not_an_object()
    payload_shapes()
    duplicates()
    not_duplicates()
    depth()


def not_an_object() -> None:
    for name, text in [
        ('empty', ''),
        ('white space', ' \n'),
        ('null', 'null'),
        ('a string', '"transaction.completed"'),
        ('a number', '5'),
        ('true', 'true'),
        ('an empty array', '[]'),
        ('an array of the callback', f'[{body()}]'),
        ('cut short', body()[:-1]),
        ('something after it', body() + 'x'),
        ('two objects', body() + body()),
        ('a trailing comma', body()[:-1] + ',}'),
        ('single quotes', body().replace('"', "'")),
        ('a comment', '/* */' + body()),
        ('NaN as a value', raw_body(id='NaN')),
        ('a leading plus', raw_body(id='+1')),
        ('a raw line feed in a string', raw_body(customer_name='"a\nb"')),
        ('a raw NUL in a string', raw_body(merchant_reference='"ORD-1001\0"')),
        ('a bad escape', raw_body(customer_name='"\\x41"')),
        ('a short unicode escape', raw_body(merchant_reference='"ORD-1001\\u00"')),
        ('an open string', '{"event":"'),
        ('a no-break space before it', '\u00a0' + body()),
        ('form encoding', 'event=transaction.completed&payload='),
        ('the callback as a JSON string', '"' + body().replace('"', '\\"') + '"'),
        ('XML', '<event>transaction.completed</event>'),
    ]:
        callback(f'body: {name}', BAD, rule='D10', body_text=text)
    callback('body: white space around it', ok(), rule='D10', body_text=' \r\n\t' + body() + '\n ')
    callback('body: an empty object', BAD, rule='D10', body_text='{}')
    for name, value in [
        ('null', None),
        ('a number', 7),
        ('true', True),
        ('false', False),
        ('an empty array', []),
        ('an array of the callback', [data()]),
        ('an empty object', {}),
    ]:
        callback(f'parsed body: {name}', BAD, rule='D10', body_json=value)
    callback('parsed body: the ordinary callback', ok(), rule='D10', body_json=data())


def payload_shapes() -> None:
    text = body()
    payload = text[text.index('"payload":') + len('"payload":') : -1]
    for name, value in [
        ('null', 'null'),
        ('an array', f'[{payload}]'),
        ('an empty array', '[]'),
        ('a number', '1'),
        ('false', 'false'),
        ('an empty string', '""'),
        ('JSON in a string', '"' + payload.replace('"', '\\"') + '"'),
    ]:
        callback(
            f'payload: {name}', BAD, rule='D10', body_text=f'{{"event":"transaction.completed","payload":{value}}}'
        )
    callback('payload: missing', BAD, rule='D10', body_text='{"event":"transaction.completed"}')
    callback(
        'payload: flat, its fields beside event',
        BAD,
        rule='D10',
        body_text='{"event":"transaction.completed",' + payload[1:],
    )
    callback(
        'payload: only inside __proto__',
        BAD,
        rule='D10',
        threat='A16',
        body_text='{"event":"transaction.completed","__proto__":{"payload":' + payload + '}}',
    )
    callback(
        'payload: in a list named data',
        BAD,
        rule='D10',
        body_text='{"event":"transaction.completed","data":[' + payload + ']}',
    )
    callback(
        'payload: before event',
        ok(),
        rule='D10',
        body_text='{"payload":' + payload + ',"event":"transaction.completed"}',
    )
    callback(
        'payload: an empty object',
        no('signed_field_malformed'),
        rule='D5',
        body_text='{"event":"transaction.completed","payload":{}}',
    )
    for name, value in [('null', None), ('an array', [data()['payload']]), ('a string', 'x'), ('missing', ...)]:
        parsed = {'event': 'transaction.completed'} | ({} if value is ... else {'payload': value})
        callback(f'payload: parsed body, {name}', BAD, rule='D10', body_json=parsed)


def duplicates() -> None:
    def twice(name: str, text: str, authentic: bool = True, **more) -> None:
        callback(
            f'duplicate: {name}',
            BAD_BUT_SIGNED if authentic else BAD,
            rule='D10',
            threat='A17',
            body_text=text,
            **more,
        )

    twice('event, last one signed', raw_body(first='"event":"transaction.failed"'))
    twice('event, first one signed', raw_body(top='"event":"transaction.failed"'), authentic=False)
    twice('event, the same twice', raw_body(first='"event":"transaction.completed"'))
    twice('payload, last one signed', raw_body(first='"payload":{"merchant_reference":"ORD-1"}'))
    twice('payload, first one signed', raw_body(top='"payload":{"merchant_reference":"ORD-1"}'), authentic=False)
    twice('payload, first one null', raw_body(first='"payload":null'))
    twice('payload, last one null', raw_body(top='"payload":null'), authentic=False)
    for field in ['merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status']:
        twice(f'{field}, last one signed', raw_body(inner_first=f'"{field}":"OTHER"'))
        twice(f'{field}, first one signed', raw_body(inner=f'"{field}":"OTHER"'), authentic=False)
    twice('merchant_reference, the same twice', raw_body(inner='"merchant_reference":"ORD-1001"'))
    twice('merchant_reference, first one null', raw_body(inner_first='"merchant_reference":null'))
    twice('merchant_reference three times', raw_body(inner_first='"merchant_reference":"A","merchant_reference":"B"'))
    twice('event with an escaped letter, last one plain', raw_body(first='"\\u0065vent":"transaction.failed"'))
    twice(
        'event with an escaped letter, last one escaped',
        raw_body(event='"transaction.failed"', top='"\\u0065vent":"transaction.completed"'),
    )
    twice('payload with an escaped letter', raw_body(first='"paylo\\u0061d":{}'))
    twice('merchant_reference with an escaped underscore', raw_body(inner_first='"merchant\\u005freference":"ORD-1"'))
    twice('merchant_reference with an escape in upper case', raw_body(inner_first='"merchant\\u005Freference":"ORD-1"'))
    every = ''.join(f'\\u{ord(letter):04x}' for letter in 'transaction_status')
    twice('transaction_status with every letter escaped', raw_body(inner_first=f'"{every}":"FAILED"'))
    twice('event, white space around the names', raw_body(first=' "event" \n:\t"transaction.failed" '))
    twice('event after a string that ends in a backslash', raw_body(first='"note":"\\\\","event":"transaction.failed"'))
    twice('event after a string with quotes', raw_body(first='"note":"\\"","event":"transaction.failed"'))
    twice('event after nested objects', raw_body(first='"a":{"b":[{"c":{}}]},"event":"transaction.failed"'))
    twice('event after brackets in a string', raw_body(first='"note":"}]{[","event":"transaction.failed"'))
    twice(
        'merchant_reference after a nested payload',
        raw_body(inner_first='"payload":{"x":[1,{"y":2}]},"merchant_reference":"ORD-1"'),
    )
    twice(
        'event, and a wrong key', raw_body(first='"event":"transaction.failed"'), False, signature=header(key=OTHER_KEY)
    )
    shifted = fields(merchant_reference='A:B')
    twice(
        'merchant_reference, and a colon in the signed one',
        body(shifted).replace('"payload":{', '"payload":{"merchant_reference":"ORD-1",'),
        signature=header(shifted),
        note='The decisions leave the order of the two open. Either way it is refused, with authentic true.',
    )
    twice(
        'event under an expired key',
        raw_body(first='"event":"transaction.failed"'),
        False,
        note='An expired key proves nothing: not authentic.',
        options={'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]},
    )


def not_duplicates() -> None:
    def fine(name: str, text: str, **more) -> None:
        callback(f'no duplicate: {name}', ok(), rule='D9', threat='A17', body_text=text, **more)

    fine('an unsigned field twice', raw_body(inner='"customer_name":"Another"'))
    fine('transaction_amount twice', raw_body(inner='"transaction_amount":5000000'), note='Not signed: see decision D1.')
    fine('an unknown member twice', raw_body(top='"x":1,"x":2', inner='"y":1,"y":2'))
    fine('__proto__ twice', raw_body(top='"__proto__":{},"__proto__":null'))
    fine('event inside a customer object', raw_body(inner='"customer":{"event":"birthday"}'))
    fine('event twice inside a customer object', raw_body(inner='"customer":{"event":"a","event":"b"}'))
    fine('event inside payload', raw_body(inner='"event":"transaction.failed"'))
    fine('payload inside payload', raw_body(inner='"payload":{"merchant_reference":"ORD-1"}'))
    fine('payload twice inside payload', raw_body(inner='"payload":1,"payload":2'))
    fine(
        'signed names in an object beside payload',
        raw_body(first='"meta":{"payload":{"merchant_reference":"ORD-1"},"event":"x"}'),
    )
    fine('merchant_reference in an object before payload', raw_body(first='"meta":{"merchant_reference":"ORD-1"}'))
    fine('merchant_reference in an object after payload', raw_body(top='"meta":{"merchant_reference":"ORD-1"}'))
    fine('all four in two objects beside payload', raw_body(top=f'"meta":{FOUR},"more":{FOUR}'))
    fine('merchant_reference in an object named payloads', raw_body(top='"payloads":{"merchant_reference":"ORD-1"}'))
    fine(
        'signed names beside payload',
        raw_body(first='"merchant_reference":"ORD-1"', top='"merchant_reference":"ORD-2"'),
    )
    fine(
        'signed names inside objects of an array',
        raw_body(inner='"items":[{"merchant_reference":"1"},{"merchant_reference":"2"}]'),
    )
    fine(
        'signed names in an array before payload', raw_body(first='"items":[{"event":"1","payload":{}},{"event":"2"}]')
    )
    fine(
        'a value that reads like a member',
        raw_body(customer_name='"\\",\\"event\\":\\"x\\",\\"merchant_reference\\":\\"y"'),
    )
    fine('a value equal to a name', raw_body(customer_name='"event"', status_message='"payload"', first='"x":"event"'))
    fine('names in another case', raw_body(top='"Event":"x","PAYLOAD":1', inner='"Merchant_Reference":"y"'))
    fine(
        'names with something before or after',
        raw_body(top='"event ":"x"," event":"y","events":1', inner='"merchant_reference\\u0000":"z"'),
    )
    fine('an event name with an escaped backslash', raw_body(top='"\\\\u0065vent":"x"'))
    fine('the only event with an escaped letter', raw_body(event=None, top='"\\u0065vent":"transaction.completed"'))
    fine(
        'the only merchant_reference with escapes',
        raw_body(merchant_reference=None, inner='"m\\u0065rchant\\u005freference":"ORD-1001"'),
    )


def depth() -> None:
    callback('depth: 32,768 arrays, not closed', BAD, rule='D8', threat='A18', body_text='[' * 32768)
    callback('depth: 8,192 arrays and nothing else', BAD, rule='D8', threat='A18', body_text='[' * 8192 + ']' * 8192)
    callback('depth: 4,096 objects, not closed', BAD, rule='D8', threat='A18', body_text='{"a":' * 4096)
    callback(
        'depth: 500 arrays in an unsigned field',
        ok(),
        rule='D9',
        threat='A18',
        body_text=raw_body(inner='"x":' + '[' * 500 + ']' * 500),
    )
    callback(
        'depth: 200 objects in an unsigned field',
        ok(),
        rule='D9',
        threat='A18',
        body_text=raw_body(inner='"x":' + '{"event":' * 200 + '1' + '}' * 200),
    )
    deep = '[' * 4096 + '"ORD-1001"' + ']' * 4096
    callback(
        'depth: a reference inside 4,096 arrays',
        no('signed_field_malformed'),
        rule='D8',
        threat='A7',
        body_text=raw_body(merchant_reference=deep),
    )
    assert set(SIGNED) & set(UNSIGNED) == set()
