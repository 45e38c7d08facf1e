"""Decision D10: what is a callback's body, and duplicate names in it."""

from vector import KEY, NAMES, OTHER_KEY, SIGNED, UNSIGNED, body, callback, data, family, fields, header
from vector import json_object, no, raw_body

BAD = no('body_malformed')
BAD_BUT_SIGNED = no('body_malformed', authentic=True)
EVENT = '"event":"transaction.completed"'
FAILED = '"event":"transaction.failed"'
FOUR = '{"merchant_reference":"A","internal_reference":"B","transaction_type":"C","transaction_status":"D"}'


def add_all() -> None:
    not_an_object()
    payload_shapes()
    duplicates()
    not_duplicates()
    depth()


def not_an_object() -> None:
    refuse = family('body: ', expect=BAD, rule='D10')
    refuse('empty', '')
    refuse('white space', ' \n')
    refuse('null', 'null')
    refuse('a string', '"transaction.completed"')
    refuse('a number', '5')
    refuse('true', 'true')
    refuse('an empty array', '[]')
    refuse('an array of the callback', f'[{body()}]')
    refuse('cut short', body()[:-1])
    refuse('something after it', body() + 'x')
    refuse('two objects', body() + body())
    refuse('a trailing comma', body()[:-1] + ',}')
    refuse('single quotes', body().replace('"', "'"))
    refuse('a comment', '/* */' + body())
    refuse('NaN as a value', raw_body(id='NaN'))
    refuse('a leading plus', raw_body(id='+1'))
    refuse('a raw line feed in a string', raw_body(customer_name='"a\nb"'))
    refuse('a raw NUL in a string', raw_body(merchant_reference='"ORD-1001\0"'))
    refuse('a bad escape', raw_body(customer_name='"\\x41"'))
    refuse('a short unicode escape', raw_body(merchant_reference='"ORD-1001\\u00"'))
    refuse('an open string', '{"event":"')
    refuse('a no-break space before it', '\u00a0' + body())
    refuse('form encoding', 'event=transaction.completed&payload=')
    refuse('the callback as a JSON string', '"' + body().replace('"', '\\"') + '"')
    refuse('XML', '<event>transaction.completed</event>')
    callback('body: white space around it', ' \r\n\t' + body() + '\n ', rule='D10')
    refuse('an empty object', '{}')
    refuse = family('parsed body: ', expect=BAD, rule='D10')
    refuse('null', body_json=None)
    refuse('a number', body_json=7)
    refuse('true', body_json=True)
    refuse('false', body_json=False)
    refuse('an empty array', body_json=[])
    refuse('an array of the callback', body_json=[data()])
    refuse('an empty object', body_json={})
    callback('parsed body: the ordinary callback', rule='D10', body_json=data())


def payload_shapes() -> None:
    payload = body().partition('"payload":')[2][:-1]
    refuse = family('payload: ', expect=BAD, rule='D10')
    for name, value in [
        ('null', 'null'),
        ('an array', f'[{payload}]'),
        ('an empty array', '[]'),
        ('a number', '1'),
        ('false', 'false'),
        ('an empty string', '""'),
        ('JSON in a string', '"' + payload.replace('"', '\\"') + '"'),
    ]:
        refuse(name, json_object(EVENT, f'"payload":{value}'))
    refuse('missing', json_object(EVENT))
    refuse('flat, its fields beside event', json_object(EVENT, payload[1:-1]))
    in_proto = json_object(f'"payload":{payload}')
    refuse('only inside __proto__', json_object(EVENT, f'"__proto__":{in_proto}'), threat='A16')
    refuse('in a list named data', json_object(EVENT, f'"data":[{payload}]'))
    callback('payload: before event', json_object(f'"payload":{payload}', EVENT), rule='D10')
    malformed = no('signed_field_malformed')
    callback('payload: an empty object', json_object(EVENT, '"payload":{}'), malformed, rule='D5')
    refuse('parsed body, null', body_json={'event': SIGNED['event'], 'payload': None})
    refuse('parsed body, an array', body_json={'event': SIGNED['event'], 'payload': [data()['payload']]})
    refuse('parsed body, a string', body_json={'event': SIGNED['event'], 'payload': 'x'})
    refuse('parsed body, missing', body_json={'event': SIGNED['event']})


def duplicates() -> None:
    last_signed = family('duplicate: ', expect=BAD_BUT_SIGNED, rule='D10', threat='A17')
    unproven = family('duplicate: ', expect=BAD, rule='D10', threat='A17')
    other_payload = '"payload":{"merchant_reference":"ORD-1"}'
    last_signed('event, last one signed', raw_body(first=FAILED))
    unproven('event, first one signed', raw_body(top=FAILED))
    last_signed('event, the same twice', raw_body(first=EVENT))
    last_signed('payload, last one signed', raw_body(first=other_payload))
    unproven('payload, first one signed', raw_body(top=other_payload))
    last_signed('payload, first one null', raw_body(first='"payload":null'))
    unproven('payload, last one null', raw_body(top='"payload":null'))
    for field in NAMES[1:]:
        last_signed(f'{field}, last one signed', raw_body(inner_first=f'"{field}":"OTHER"'))
        unproven(f'{field}, first one signed', raw_body(inner=f'"{field}":"OTHER"'))
    for name, first, last in [
        ('merchant_reference, the same twice', '', '"merchant_reference":"ORD-1001"'),
        ('merchant_reference, first one null', '"merchant_reference":null', ''),
        ('merchant_reference three times', '"merchant_reference":"A","merchant_reference":"B"', ''),
    ]:
        last_signed(name, raw_body(inner_first=first, inner=last))
    last_signed('event with an escaped letter, last one plain', raw_body(first='"\\u0065vent":"transaction.failed"'))
    escaped_last = raw_body(event='"transaction.failed"', top='"\\u0065vent":"transaction.completed"')
    last_signed('event with an escaped letter, last one escaped', escaped_last)
    last_signed('payload with an escaped letter', raw_body(first='"paylo\\u0061d":{}'))
    every = ''.join(f'\\u{ord(letter):04x}' for letter in 'transaction_status')
    for name, first in [
        ('merchant_reference with an escaped underscore', '"merchant\\u005freference":"ORD-1"'),
        ('merchant_reference with an escape in upper case', '"merchant\\u005Freference":"ORD-1"'),
        ('transaction_status with every letter escaped', f'"{every}":"FAILED"'),
    ]:
        last_signed(name, raw_body(inner_first=first))
    last_signed('event, white space around the names', raw_body(first=' "event" \n:\t"transaction.failed" '))
    last_signed('event after a string that ends in a backslash', raw_body(first=f'"note":"\\\\",{FAILED}'))
    last_signed('event after a string with quotes', raw_body(first=f'"note":"\\"",{FAILED}'))
    last_signed('event after nested objects', raw_body(first='"a":{"b":[{"c":{}}]},' + FAILED))
    last_signed('event after brackets in a string', raw_body(first='"note":"}]{[",' + FAILED))
    nested = raw_body(inner_first='"payload":{"x":[1,{"y":2}]},"merchant_reference":"ORD-1"')
    last_signed('merchant_reference after a nested payload', nested)
    unproven('event, and a wrong key', raw_body(first=FAILED), signature=header(key=OTHER_KEY))
    shifted = fields(merchant_reference='A:B')
    last_signed(
        'merchant_reference, and a colon in the signed one',
        body(shifted).replace('"payload":{', '"payload":{"merchant_reference":"ORD-1",'),
        signed=shifted,
        note='The decisions leave the order of the two open. Either way it is refused, with authentic true.',
    )
    unproven(
        'event under an expired key',
        raw_body(first=FAILED),
        note='An expired key proves nothing: not authentic.',
        options={'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]},
    )


def not_duplicates() -> None:
    def fine(name: str, note: str | None = None, **members: str | None) -> None:
        callback(f'no duplicate: {name}', raw_body(**members), rule='D9', threat='A17', note=note)

    fine('an unsigned field twice', inner='"customer_name":"Another"')
    fine('transaction_amount twice', 'Not signed: see decision D1.', inner='"transaction_amount":5000000')
    fine('an unknown member twice', top='"x":1,"x":2', inner='"y":1,"y":2')
    fine('__proto__ twice', top='"__proto__":{},"__proto__":null')
    fine('event inside a customer object', inner='"customer":{"event":"birthday"}')
    fine('event twice inside a customer object', inner='"customer":{"event":"a","event":"b"}')
    fine('event inside payload', inner=FAILED)
    fine('payload inside payload', inner='"payload":{"merchant_reference":"ORD-1"}')
    fine('payload twice inside payload', inner='"payload":1,"payload":2')
    beside = '"meta":{"payload":{"merchant_reference":"ORD-1"},"event":"x"}'
    fine('signed names in an object beside payload', first=beside)
    fine('merchant_reference in an object before payload', first='"meta":{"merchant_reference":"ORD-1"}')
    fine('merchant_reference in an object after payload', top='"meta":{"merchant_reference":"ORD-1"}')
    fine('all four in two objects beside payload', top=f'"meta":{FOUR},"more":{FOUR}')
    fine('merchant_reference in an object named payloads', top='"payloads":{"merchant_reference":"ORD-1"}')
    fine('signed names beside payload', first='"merchant_reference":"ORD-1"', top='"merchant_reference":"ORD-2"')
    items = '"items":[{"merchant_reference":"1"},{"merchant_reference":"2"}]'
    fine('signed names inside objects of an array', inner=items)
    fine('signed names in an array before payload', first='"items":[{"event":"1","payload":{}},{"event":"2"}]')
    like_members = '"\\",\\"event\\":\\"x\\",\\"merchant_reference\\":\\"y"'
    fine('a value that reads like a member', customer_name=like_members)
    fine('a value equal to a name', customer_name='"event"', status_message='"payload"', first='"x":"event"')
    fine('names in another case', top='"Event":"x","PAYLOAD":1', inner='"Merchant_Reference":"y"')
    around = {'top': '"event ":"x"," event":"y","events":1', 'inner': '"merchant_reference\\u0000":"z"'}
    fine('names with something before or after', **around)
    fine('an event name with an escaped backslash', top='"\\\\u0065vent":"x"')
    fine('the only event with an escaped letter', event=None, top='"\\u0065vent":"transaction.completed"')
    escaped = '"m\\u0065rchant\\u005freference":"ORD-1001"'
    fine('the only merchant_reference with escapes', merchant_reference=None, inner=escaped)


def depth() -> None:
    refuse = family('depth: ', expect=BAD, rule='D8', threat='A18')
    refuse('32,768 arrays, not closed', '[' * 32768)
    refuse('8,192 arrays and nothing else', '[' * 8192 + ']' * 8192)
    refuse('4,096 objects, not closed', '{"a":' * 4096)
    fine = family('depth: ', rule='D9', threat='A18')
    fine('500 arrays in an unsigned field', raw_body(inner='"x":' + '[' * 500 + ']' * 500))
    fine('200 objects in an unsigned field', raw_body(inner='"x":' + '{"event":' * 200 + '1' + '}' * 200))
    deep = raw_body(merchant_reference='[' * 4096 + '"ORD-1001"' + ']' * 4096)
    refuse('a reference inside 4,096 arrays', deep, expect=no('signed_field_malformed'), threat='A7')
    assert set(SIGNED) & set(UNSIGNED) == set()
