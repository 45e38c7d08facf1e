/** The end of an empty member, and the start of the next. No JSON, compressed or stored, contains these bytes. */
const EMPTY_MEMBER = '\0\0\0\0\0\0\0\0\x1f\u2039'; // 8b, as the decoder of the web's "latin1" writes it.

/** RFC 1952: a member ends with the checksum and the length of its own data. */
export function isOneMember(bytes: Uint8Array, data: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const isLastLength = new DataView(buffer, byteOffset).getUint32(length - 4, true) === data.length;
  return isLastLength && !new TextDecoder('latin1').decode(bytes).includes(EMPTY_MEMBER);
}
