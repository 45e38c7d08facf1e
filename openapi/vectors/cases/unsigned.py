"""Decisions D1 and D9: unsigned fields do not decide, and unknown is not wrong."""

from vector import NAMES, SIGNED, UNSIGNED, body, callback, data, fields, header, no, ok, raw_body


def add_all() -> None:
    callback('unsigned: all sixteen fields of the payload', ok(), rule='D1', body_text=body(**UNSIGNED))
    callback('unsigned: all sixteen, parsed body', ok(), rule='D1', body_json=data(**UNSIGNED))
    changed()
    missing_or_odd()
    extra()
    unknown()
    tampered()


def changed() -> None:
    def fine(name: str, **unsigned) -> None:
        callback(f'unsigned: {name} changed', ok(), rule='D1', threat='A2', body_text=body(**unsigned))

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
        callback(f'unsigned: id {number} under one signature', ok(), rule='D1', threat='A6', body_text=body(id=number))


def missing_or_odd() -> None:
    minimal = (
        '{"event":"transaction.completed","payload":{"merchant_reference":"ORD-1001","internal_reference":"INT-77",'
    )
    minimal += '"transaction_type":"COLLECTION","transaction_status":"COMPLETED"}}'
    callback('unsigned: all missing', ok(), rule='D9', body_text=minimal)
    callback('unsigned: all null', ok(), rule='D9', body_text=raw_body(**dict.fromkeys(UNSIGNED, 'null')))
    callback('unsigned: all arrays', ok(), rule='D9', body_text=raw_body(**dict.fromkeys(UNSIGNED, '[]')))
    callback(
        'unsigned: amounts as strings',
        ok(),
        rule='D9',
        body_text=raw_body(request_amount='"500"', transaction_amount='"500.00"'),
    )
    callback('unsigned: id as a string', ok(), rule='D9', body_text=raw_body(id='"1001"'))
    callback('unsigned: id past 2^53', ok(), rule='D9', body_text=raw_body(id='12345678901234567891'))
    callback(
        'unsigned: amount past the largest double', ok(), rule='D9', body_text=raw_body(transaction_amount='1e400')
    )
    callback(
        'unsigned: amount with many decimals',
        ok(),
        rule='D9',
        body_text=raw_body(transaction_amount='500.00000000000000000001'),
    )
    callback('unsigned: charge_customer as text', ok(), rule='D9', body_text=raw_body(charge_customer='"yes"'))
    callback('unsigned: customer_name an object', ok(), rule='D9', body_text=raw_body(customer_name='{"first":"A"}'))
    callback(
        'unsigned: NUL in customer_name',
        ok(),
        rule='D9',
        threat='A10',
        body_text=raw_body(customer_name='"A\\u0000B"'),
    )
    callback(
        'unsigned: markup in customer_name',
        ok(),
        rule='D9',
        threat='A25',
        body_text=raw_body(customer_name='"<img src=x onerror=alert(1)>"'),
    )
    callback(
        'unsigned: parsed body, all missing',
        ok(),
        rule='D9',
        body_json={'event': SIGNED['event'], 'payload': {name: SIGNED[name] for name in NAMES[1:]}},
    )


def extra() -> None:
    def fine(name: str, **members: str) -> None:
        callback(f'extra: {name}', ok(), rule='D9', threat='A16', body_text=raw_body(**members))

    fine('members at both levels', top='"version":2', inner='"channel":"ussd"')
    fine('an empty name', top='"":1', inner='"":{}')
    fine(
        '__proto__ an object',
        top='"__proto__":{"event":"x"}',
        inner='"__proto__":{"merchant_reference":"x","isAdmin":true}',
    )
    fine('__proto__ null', top='"__proto__":null', inner='"__proto__":null')
    fine('constructor.prototype', top='"constructor":{"prototype":{"ok":true}}', inner='"constructor":1')
    fine('names of Object.prototype', inner='"toString":1,"valueOf":null,"hasOwnProperty":false,"__defineGetter__":0')
    fine('toJSON and then', top='"toJSON":1,"then":1', inner='"toJSON":"x","then":"y"')
    fine('names of the result', top='"ok":false,"signed":{},"unsigned":{},"keyId":"x","raw":null')
    fine('a member named hmac_signature', top='"hmac_signature":"t=1,s=2"')
    callback(
        'extra: parsed body with own __proto__',
        ok(),
        rule='D9',
        threat='A16',
        body_json={**data(), '__proto__': {'event': 'x'}, 'constructor': {'prototype': {}}},
    )


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
        signed = fields(**{field: value})
        callback(f'unknown: {field} {value}', ok(signed), rule='D9', signature=header(signed), body_text=body(signed))


def tampered() -> None:
    """The counterpart: each signed field, once changed, no longer fits."""
    for name, value in [
        ('event', 'transaction.failed'),
        ('merchant_reference', 'ORD-1002'),
        ('internal_reference', 'INT-78'),
        ('transaction_type', 'PAYOUT'),
        ('transaction_status', 'FAILED'),
    ]:
        callback(
            f'signed: {name} changed', no('mismatch'), rule='D1', threat='A2', body_text=body(fields(**{name: value}))
        )
    swapped = fields(merchant_reference='INT-77', internal_reference='ORD-1001')
    callback('signed: the two references swapped', no('mismatch'), rule='D1', body_text=body(swapped))
