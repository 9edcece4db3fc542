import { createHash } from 'node:crypto';
import type { AdapterValues } from '@parley/contracts';
import { proto } from '@whiskeysockets/baileys';
import { z } from 'zod';

const KIND = 'sent';
/** So many places there are; a new message takes the place of an old one, found by its id. */
const PLACES = 2_048;
const Sent = z.object({ id: z.string(), content: z.base64() });

/** The id under which a part goes out: always the same for the same key, so that it shows once. */
export function messageIdOf(idempotencyKey: string): string {
  const hash = createHash('sha256').update(`parley ${idempotencyKey}`).digest('hex');
  return `3EB0${hash.slice(0, 18).toUpperCase()}`;
}

/**
 * What was sent, for phones that could not open it and ask again, also after a restart. Bounded by
 * places instead of age: each id has one place, whose last holder stays.
 */
export class SentMessages {
  readonly #values: AdapterValues;

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  async keep(id: string, content: proto.IMessage): Promise<void> {
    const bytes = Buffer.from(proto.Message.encode(content).finish());
    const value = JSON.stringify({ id, content: bytes.toString('base64') });
    await this.#values.set([{ kind: KIND, id: placeOf(id), value }]);
  }

  /** Undefined for what was never sent, or too long ago. */
  async find(id: string): Promise<proto.IMessage | undefined> {
    const place = placeOf(id);
    const stored = (await this.#values.get(KIND, [place])).get(place);
    if (stored === undefined) return undefined;
    const sent = Sent.parse(JSON.parse(stored));
    return sent.id === id ? proto.Message.decode(Buffer.from(sent.content, 'base64')) : undefined;
  }
}

function placeOf(id: string): string {
  return String(createHash('sha256').update(id).digest().readUInt32BE() % PLACES);
}
