import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PublicKey } from '@solana/web3.js';
import type { MessageSigner } from '../../programs/client/proof.ts';

/** The used part of the package pkcs11js, which only operators with such a module install. */
interface Pkcs11Module {
  load(path: string): void;
  C_Initialize(): void;
  C_GetSlotList(tokenPresent: boolean): Buffer[];
  C_GetTokenInfo(slot: Buffer): { label: string };
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_Login(session: Buffer, userType: number, pin: string): void;
  C_FindObjectsInit(session: Buffer, template: Attribute[]): void;
  C_FindObjects(session: Buffer, max: number): Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_GetAttributeValue(session: Buffer, object: Buffer, template: Attribute[]): Attribute[];
  C_SignInit(session: Buffer, mechanism: { mechanism: number }, key: Buffer): void;
  C_SignAsync(session: Buffer, data: Buffer, signature: Buffer): Promise<Buffer>;
}

interface Attribute {
  type: number;
  value?: Buffer | string | number;
}

// Numbers of PKCS#11 3.0, by its names.
const CKF_SERIAL_SESSION = 4;
const CKU_USER = 1;
const CKR_USER_ALREADY_LOGGED_IN = 0x100;
const CKO_PUBLIC_KEY = 2;
const CKO_PRIVATE_KEY = 3;
const CKA_CLASS = 0;
const CKA_LABEL = 3;
const CKA_EC_POINT = 0x181;
const CKM_EDDSA = 0x1057;

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The modules of this process, by their paths: each is initialized once. */
const modules = new Map<string, Pkcs11Module>();

/** Where a key is, by its RFC 7512 URI: `pkcs11:token=…;object=…?module-path=…&pin-source=…`. */
interface KeyPlace {
  token: string;
  object: string;
  modulePath: string;
  pinPath: string;
}

/**
 * Opens an ed25519 key of a PKCS#11 module, such as a hardware security module's. The key stays
 * there. Signatures are made one after the other, beside the event loop.
 *
 * @throws Error that says what is missing, without the PIN
 */
export function openPkcs11Signer(uri: string): MessageSigner {
  const place = parsePlace(uri);
  const module = openModule(place.modulePath);
  const slot = module
    .C_GetSlotList(true)
    .find((each) => module.C_GetTokenInfo(each).label.replace(/[\s\0]+$/, '') === place.token);
  if (!slot) throw new Error(`has no token ${place.token} in the module`);
  const session = module.C_OpenSession(slot, CKF_SERIAL_SESSION);
  logIn(module, session, readFileSync(place.pinPath, 'utf8').replace(/\r?\n$/, ''));
  const find = (kind: number): Buffer => {
    module.C_FindObjectsInit(session, [
      { type: CKA_CLASS, value: kind },
      { type: CKA_LABEL, value: place.object },
    ]);
    const found = module.C_FindObjects(session, 2);
    module.C_FindObjectsFinal(session);
    if (found.length === 1) return found[0] as Buffer;
    throw new Error(`has ${found.length === 0 ? 'no' : 'several'} key pairs ${place.object} there`);
  };
  const privateKey = find(CKO_PRIVATE_KEY);
  const [point] = module.C_GetAttributeValue(session, find(CKO_PUBLIC_KEY), [
    { type: CKA_EC_POINT },
  ]);
  // An octet string of 32 bytes; some modules leave out its head.
  const publicKey = new PublicKey(Buffer.from(point?.value as Buffer).subarray(-KEY_BYTES));

  async function signOnce(message: Uint8Array): Promise<Uint8Array> {
    module.C_SignInit(session, { mechanism: CKM_EDDSA }, privateKey);
    const room = Buffer.alloc(SIGNATURE_BYTES);
    return new Uint8Array(await module.C_SignAsync(session, Buffer.from(message), room));
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    publicKey,
    signMessage(message) {
      // A session makes one signature at a time.
      const signed = last.then(() => signOnce(message));
      last = signed.catch(() => undefined);
      return signed;
    },
  };
}

function parsePlace(uri: string): KeyPlace {
  const [path = '', query = ''] = uri.slice('pkcs11:'.length).split('?');
  const attributes = new Map(
    [...path.split(';'), ...query.split('&')].map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name, decodeURIComponent(value.join('='))];
    }),
  );
  const read = (name: string): string => {
    const value = attributes.get(name);
    if (value) return value;
    throw new Error(`must name its ${name}: pkcs11:token=…;object=…?module-path=…&pin-source=…`);
  };
  return {
    token: read('token'),
    object: read('object'),
    modulePath: read('module-path'),
    pinPath: read('pin-source').replace(/^file:/, ''),
  };
}

function openModule(path: string): Pkcs11Module {
  const opened = modules.get(path);
  if (opened) return opened;
  const module = new (loadPackage().PKCS11)();
  module.load(path);
  module.C_Initialize();
  modules.set(path, module);
  return module;
}

function loadPackage(): { PKCS11: new () => Pkcs11Module } {
  try {
    return createRequire(import.meta.url)('pkcs11js');
  } catch {
    throw new Error('needs the package pkcs11js: npm install --no-save pkcs11js@2.1.7');
  }
}

/** One login to a token serves all sessions of the process. */
function logIn(module: Pkcs11Module, session: Buffer, pin: string): void {
  try {
    module.C_Login(session, CKU_USER, pin);
  } catch (error) {
    if ((error as { code?: number }).code !== CKR_USER_ALREADY_LOGGED_IN) throw error;
  }
}
