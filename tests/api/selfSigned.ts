import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate for 127.0.0.1 that signs itself, with its key; both as PEM. */
export interface SelfSigned {
  certificate: string;
  key: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const IP_ADDRESS = 0x87;

/** One element of DER: tag, length, contents. */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const lengthBytes = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

const ed25519 = der(SEQUENCE, der(OBJECT_ID, Buffer.from([0x2b, 0x65, 0x70])));
const commonName = der(OBJECT_ID, Buffer.from([0x55, 0x04, 0x03]));
const subjectAltName = der(OBJECT_ID, Buffer.from([0x55, 0x1d, 0x11]));

export function createSelfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, commonName, der(UTF8_STRING, Buffer.from('test')))),
  );
  const time = (text: string) => der(UTC_TIME, Buffer.from(text));
  const address = der(SEQUENCE, der(IP_ADDRESS, Buffer.from([127, 0, 0, 1])));
  const toBeSigned = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    ed25519,
    name,
    der(SEQUENCE, time('250101000000Z'), time('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, subjectAltName, der(OCTET_STRING, address)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign(null, toBeSigned, privateKey)]);
  const certificate = der(SEQUENCE, toBeSigned, ed25519, der(BIT_STRING, signature));
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
