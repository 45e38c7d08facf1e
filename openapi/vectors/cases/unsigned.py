"""Decisions D1 and D9: unsigned fields do not decide, and unknown is not wrong."""

from vector import NAMES, SIGNED, UNSIGNED, body, callback, data, family, fields, json_object, no, raw_body


def add_all() -> None:
    callback('unsigned: all sixteen fields of the payload', body(**UNSIGNED), rule='D1')
    callback('unsigned: all sixteen, parsed body', rule='D1', body_json=data(**UNSIGNED))
    changed()
    missing_or_odd()
    extra()
    unknown()
    tampered()


def changed() -> None:
    def fine(name: str, **unsigned) -> None:
        callback(f'unsigned: {name} changed', body(**unsigned), rule='D1', threat='A2')

    fine('transaction_amount', transaction_amount=5_000_000)
    fine('request_amount', request_amount=5_000_000)
    fine('both amounts and total_credit', request_amount=1, transaction_amount=1, total_credit=1)
    fine('transaction_amount, to a negative number,', transaction_amount=-500)
    fine('currency', request_currency='USD', transaction_currency='USD')
    fine('account', transaction_account='256700000000')
    fine('customer', customer_name='Somebody Else')
    fine('charge', transaction_charge=0, charge_customer=True)
    fine('provider', provider_code='other')
    fine('status_message', status_message='<b>Paid</b>')
    for number in [1, 2, 3]:
        callback(f'unsigned: id {number} under one signature', body(id=number), rule='D1', threat='A6')


def missing_or_odd() -> None:
    def fine(name: str, threat: str | None = None, **members: str) -> None:
        callback(f'unsigned: {name}', raw_body(**members), rule='D9', threat=threat)

    signed = {name: SIGNED[name] for name in NAMES[1:]}
    payload = json_object(*(f'"{name}":"{value}"' for name, value in signed.items()))
    minimal = json_object('"event":"transaction.completed"', f'"payload":{payload}')
    callback('unsigned: all missing', minimal, rule='D9')
    fine('all null', **dict.fromkeys(UNSIGNED, 'null'))
    fine('all arrays', **dict.fromkeys(UNSIGNED, '[]'))
    fine('amounts as strings', request_amount='"500"', transaction_amount='"500.00"')
    fine('id as a string', id='"1001"')
    fine('id past 2^53', id='12345678901234567891')
    fine('amount past the largest double', transaction_amount='1e400')
    fine('amount with many decimals', transaction_amount='500.00000000000000000001')
    fine('charge_customer as text', charge_customer='"yes"')
    fine('customer_name an object', customer_name='{"first":"A"}')
    fine('NUL in customer_name', 'A10', customer_name='"A\\u0000B"')
    fine('markup in customer_name', 'A25', customer_name='"<img src=x onerror=alert(1)>"')
    bare = {'event': SIGNED['event'], 'payload': signed}
    callback('unsigned: parsed body, all missing', rule='D9', body_json=bare)


def extra() -> None:
    def fine(name: str, **members: str) -> None:
        add_one(name, raw_body(**members))

    add_one = family('extra: ', rule='D9', threat='A16')
    fine('members at both levels', top='"version":2', inner='"channel":"ussd"')
    fine('an empty name', top='"":1', inner='"":{}')
    proto = '"__proto__":{"merchant_reference":"x","isAdmin":true}'
    fine('__proto__ an object', top='"__proto__":{"event":"x"}', inner=proto)
    fine('__proto__ null', top='"__proto__":null', inner='"__proto__":null')
    fine('constructor.prototype', top='"constructor":{"prototype":{"ok":true}}', inner='"constructor":1')
    fine('names of Object.prototype', inner='"toString":1,"valueOf":null,"hasOwnProperty":false,"__defineGetter__":0')
    fine('toJSON and then', top='"toJSON":1,"then":1', inner='"toJSON":"x","then":"y"')
    fine('names of the result', top='"ok":false,"signed":{},"unsigned":{},"keyId":"x","raw":null')
    fine('a member named hmac_signature', top='"hmac_signature":"t=1,s=2"')
    own = {**data(), '__proto__': {'event': 'x'}, 'constructor': {'prototype': {}}}
    add_one('parsed body with own __proto__', body_json=own)


def unknown() -> None:
    for field, value in [
        ('event', 'transaction.reversed'),
        ('event', 'payout.completed'),
        ('event', 'TRANSACTION.COMPLETED'),
        ('event', 'x'),
        ('transaction_type', 'PAYOUT'),
        ('transaction_type', 'Collection'),
        ('transaction_type', 'SOMETHING_NEW'),
        ('transaction_status', 'FAILED'),
        ('transaction_status', 'PENDING'),
        ('transaction_status', 'completed'),
        ('internal_reference', '0'),
    ]:
        callback(f'unknown: {field} {value}', signed=fields(**{field: value}), rule='D9')


def tampered() -> None:
    """The counterpart: each signed field, once changed, no longer fits."""
    for name, value in [
        ('event', 'transaction.failed'),
        ('merchant_reference', 'ORD-1002'),
        ('internal_reference', 'INT-78'),
        ('transaction_type', 'PAYOUT'),
        ('transaction_status', 'FAILED'),
    ]:
        text = body(fields(**{name: value}))
        callback(f'signed: {name} changed', text, no('mismatch'), rule='D1', threat='A2')
    swapped = body(fields(merchant_reference='INT-77', internal_reference='ORD-1001'))
    callback('signed: the two references swapped', swapped, no('mismatch'), rule='D1')
