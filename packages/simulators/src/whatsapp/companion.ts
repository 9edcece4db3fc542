import { jidDecode, jidEncode } from '@whiskeysockets/baileys';
import type { KeyBundle, NumberedKey } from './signal/key-bundle.ts';

/** The client that is linked to the bot's account, as the servers know it. */
export class Companion {
  /** With the device, for example `491…:1@s.whatsapp.net`. */
  readonly pn: string;
  readonly lid: string;
  readonly device: number;
  /** The Noise key it proves at each login. */
  readonly noiseKey: Uint8Array;
  /** It has not logged in yet: its first login brings history from the phone. */
  isNew = true;
  #keys: KeyBundle | undefined;
  #oneTime: NumberedKey[] = [];
  readonly #published = Promise.withResolvers<void>();

  constructor(
    me: { readonly pn: string; readonly lid: string },
    device: number,
    noiseKey: Uint8Array,
  ) {
    this.pn = withDevice(me.pn, device);
    this.lid = withDevice(me.lid, device);
    this.device = device;
    this.noiseKey = noiseKey;
  }

  /** Resolves when there are keys to write to it with; what is said to a new client waits for them. */
  get published(): Promise<void> {
    return this.#published.promise;
  }

  /** How many one-time keys others may still take. */
  get keysLeft(): number {
    return this.#oneTime.length;
  }

  publish(keys: KeyBundle, oneTime: readonly NumberedKey[]): void {
    this.#keys = keys;
    this.#oneTime.push(...oneTime);
    this.#published.resolve();
  }

  rotate(signed: KeyBundle['signed']): void {
    if (this.#keys !== undefined) this.#keys = { ...this.#keys, signed };
  }

  /**
   * What one needs to write to it; each one-time key is given out once.
   * @throws Error before it has published keys.
   */
  take(): KeyBundle {
    if (this.#keys === undefined) throw new Error('The client has not published its keys yet');
    const oneTime = this.#oneTime.shift();
    return oneTime === undefined ? this.#keys : { ...this.#keys, oneTime };
  }
}

function withDevice(jid: string, device: number): string {
  const decoded = jidDecode(jid);
  if (decoded === undefined) throw new Error(`Not a JID: ${jid}`);
  return jidEncode(decoded.user, decoded.server, device);
}
