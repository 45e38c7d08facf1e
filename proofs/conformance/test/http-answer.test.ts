import { expect, test } from 'vitest';
import { takeHttpAnswer } from '../src/http-answer.ts';

const declared = 'HTTP/1.1 401 Unauthorized\r\nAllow: GET\r\nallow: POST\r\nContent-Length: 3\r\n\r\nabc';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n';

test.each([declared, chunked])('an answer is removed from the bytes once it is complete: %j', (text) => {
  const bytes = Buffer.from(`${text}HTTP/1.1`);
  for (let length = 0; length < text.length; length++) {
    expect(takeHttpAnswer(bytes.subarray(0, length), false)).toBeUndefined();
  }
  const taken = takeHttpAnswer(bytes, false);
  expect(taken?.answer.body).toBe('abc');
  expect(taken?.rest.toString()).toBe('HTTP/1.1');
});

test('a repeated header is distinguished from a joined one', () => {
  expect(takeHttpAnswer(Buffer.from(declared), false)?.answer.headers.get('allow')).toBe('GET | POST');
});

test('bytes after an answer to HEAD are kept, so that a body there is noticed', () => {
  const taken = takeHttpAnswer(Buffer.from(declared), true);
  expect([taken?.answer.body, taken?.rest.toString()]).toEqual(['', 'abc']);
});

test('bytes that are not an HTTP answer are refused, and so is an answer without a length', () => {
  expect(() => takeHttpAnswer(Buffer.from('SMTP\r\n\r\n'), false)).toThrow('not an HTTP/1.1 answer');
  expect(() => takeHttpAnswer(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), false)).toThrow('neither a length');
});
