"""Decision D11: a signed name appears once, in one spelling; an unsigned name may be the merchant's own parameter."""

from vector import NAMES, SIGNED, callback, family, fields, header, no, ok, query, raw_body, redirect

BAD = no('query_malformed')
refuse = family('redirect names: ', redirect, expect=BAD, threat='A14')
fine = family('redirect names: ', redirect, rule='D9')


def add_all() -> None:
    names()
    defaults()


def names() -> None:
    for field in NAMES:
        refuse(f'{field} twice, other first', f'{field}=OTHER&' + query())
        refuse(f'{field} twice, other last', query() + f'&{field}=OTHER')
        refuse(f'{field}[]', query() + f'&{field}[]=OTHER')
        refuse(f'{field}[x]', query() + f'&{field}[x]=OTHER')
    for field in NAMES[1:]:
        refuse(f'{field} flat and nested', query() + f'&payload[{field}]={SIGNED[field]}')
        refuse(f'payload[{field}] twice', query(nested=True) + f'&payload[{field}]=OTHER')
    refuse('merchant_reference, the same twice', query() + '&merchant_reference=ORD-1001')
    refuse('merchant_reference flat and nested, another value', query(nested=True) + '&merchant_reference=OTHER')
    refuse('event twice, once encoded', query() + '&%65vent=OTHER')
    refuse('event twice, once empty', query() + '&event=')
    refuse('event twice, once without =', query() + '&event')
    refuse('event[] instead of event', query().replace('event=', 'event[]='))
    refuse('event[0] instead of event', query().replace('event=', 'event[0]='))
    refuse('event%5B%5D instead of event', query().replace('event=', 'event%5B%5D='))
    refuse('payload[merchant_reference][]', query(nested=True) + '&payload[merchant_reference][]=x')
    refuse('payload[merchant_reference][x]', query(nested=True) + '&payload[merchant_reference][x]=y')
    refuse('payload[merchant_reference] twice, once encoded', query(nested=True) + '&payload%5Bmerchant_reference%5D=x')
    refuse('hmac_signature twice, the same', query() + f'&hmac_signature={header()}')
    refuse('hmac_signature twice, first empty', 'hmac_signature=&' + query())
    refuse('hmac_signature twice, last forged', query() + '&hmac_signature=t=1,s=' + '0' * 64)
    refuse('hmac_signature twice, once encoded', query() + f'&hmac%5Fsignature={header()}')
    refuse('hmac_signature[]', query() + f'&hmac_signature[]={header()}')
    refuse('hmac_signature[] instead', query().replace('hmac_signature=', 'hmac_signature[]='))
    own = 'The merchant may have put the name into the address itself: it spoils no genuine redirect, and proves nothing.'
    for name, extra in [
        ('transaction_amount twice', '&transaction_amount=500&transaction_amount=5000000'),
        ('transaction_amount flat and nested', '&transaction_amount=500&payload[transaction_amount]=5000000'),
        ('transaction_amount[]', '&transaction_amount[]=500'),
        ('payload[transaction_amount][0]', '&payload[transaction_amount][0]=500'),
        ('id of the merchant and id of the transaction', '&id=7&id=1001'),
        ('id three times', '&id=7&id=7&id=1001'),
    ]:
        fine(name, query() + extra, threat='A14', note=own)
    pairs = '&'.join(f'p{index}=1' for index in range(122))
    redirect('redirect names: 128 parameters', f'{query()}&{pairs}', threat='A29')
    refuse('129 parameters', f'{query()}&{pairs}&q=1')
    refuse('the same name 3,900 times', query() + '&a' * 3900)
    fine('unknown[] and unknown[x]', query() + '&tag[]=1&tag[]=2&tag[x]=3')
    fine('event as a part of other names', query() + '&events=1&xevent=2&event.x=3')


def defaults() -> None:
    """Public documentation of services with this scheme shows redirects without event and transaction_type."""
    both = {'event': 'transaction.completed', 'transaction_type': 'COLLECTION'}
    only_event = {'event': 'transaction.completed'}
    missing = no('signed_field_malformed')

    def case(name: str, expect: dict, text: str, given: dict = both) -> None:
        redirect(f'redirect defaults: {name}', text, expect, options={'redirect_defaults': given})

    def without(*names: str, signed: dict = SIGNED, signature: str = '', **more) -> str:
        kept = {name: value for name, value in signed.items() if name not in names}
        return query(kept, signature or header(signed), **more)

    case('event absent', ok(), without('event'))
    case('transaction_type absent', ok(), without('transaction_type'))
    case('both absent', ok(), without('event', 'transaction_type'))
    case('both absent, the rest nested', ok(), without('event', 'transaction_type', nested=True))
    case('nothing absent', ok(), query())
    failed = fields(event='transaction.failed', transaction_type='PAYOUT')
    case('the values of the query win', ok(failed), query(failed))
    case('the default is part of the signed message', no('mismatch'), without('event', signed=failed))
    case('an event that the query changes', no('mismatch'), query(failed, header()))
    case('one given, the other absent', missing, without('event', 'transaction_type'), only_event)
    case('one given, and that one absent', ok(), without('event'), only_event)
    case('merchant_reference has none', missing, without('merchant_reference'))
    empty = fields(event='')
    case('an empty event is not absent', ok(empty), query(empty))
    case('an empty event does not become the default', no('mismatch'), query(empty, header()))
    case('event[] is not absent', BAD, without('event') + '&event[]=transaction.completed')
    case('a repeated event', BAD, query() + '&event=transaction.completed')
    name = 'redirect defaults: a callback without event has no use for them'
    callback(name, raw_body(event=None), missing, rule='D11', options={'redirect_defaults': both})
