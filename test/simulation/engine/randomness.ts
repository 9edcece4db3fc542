import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { RandomChance } from './chance.ts';

/**
 * Replaces all randomness of this thread with seeded numbers, ids and secrets included. `chance` is
 * called at each draw because it changes with the seed.
 */
export function installRandomness(chance: () => RandomChance): void {
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(chance().next() * 256);
    return view;
  };
  const randomBytes = (size: number, done?: (error: null, bytes: Buffer) => void) => {
    const bytes = fill(Buffer.alloc(size));
    if (done === undefined) return bytes;
    setImmediate(() => done(null, bytes));
  };
  const randomUUID = (): string => {
    const bytes = fill(Buffer.alloc(16));
    // Version 4, variant 1 (RFC 9562).
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  };
  const randomInt = (low: number, high?: number): number => {
    const [from, to] = high === undefined ? [0, low] : [low, high];
    return Math.floor(chance().between(from, to));
  };
  Object.assign(nodeCrypto, { randomBytes, randomUUID, randomInt, randomFillSync: fill });
  const web = { randomUUID, getRandomValues: fill };
  for (const [name, value] of Object.entries(web)) {
    Object.defineProperty(globalThis.crypto, name, { value, configurable: true });
  }
  Math.random = () => chance().next();
  syncBuiltinESMExports();
}
