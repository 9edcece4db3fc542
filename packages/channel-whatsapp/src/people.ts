import { guarded } from '@parley/channels';
import { type AdapterValues, BoundedMap, type Logger } from '@parley/core';
import type { BinaryNode, GroupMetadata, WASocket } from '@whiskeysockets/baileys';

/** A person's ids: an identity without a number, a number, or both. */
export interface PersonIds {
  /** `…@lid`. */
  readonly lid?: string | undefined;
  /** `…@s.whatsapp.net`. */
  readonly pn?: string | undefined;
}

/**
 * `49151…:3@s.whatsapp.net`, `49151…@hosted` and `123_1:2@lid` each identify a person and a device.
 */
const PERSON =
  /^(\d{1,20})(?:_\d{1,5})?(?::\d{1,5})?@(s\.whatsapp\.net|c\.us|hosted|lid|hosted\.lid)$/;

/**
 * Returns the person's JID without the device, in the common domain; undefined for anything else.
 */
export function toPersonJid(jid: string | null | undefined): string | undefined {
  const [, user, server = ''] = PERSON.exec(jid ?? '') ?? [];
  if (user === undefined) return undefined;
  return `${user}@${server.endsWith('lid') ? 'lid' : 's.whatsapp.net'}`;
}

/** Sorts one person's JIDs into an identity and a number. */
export function toPersonIds(...jids: readonly (string | null | undefined)[]): PersonIds {
  const all = jids.map(toPersonJid).filter((jid) => jid !== undefined);
  const lid = all.find((jid) => jid.endsWith('@lid'));
  const pn = all.find((jid) => !jid.endsWith('@lid'));
  return { ...(lid === undefined ? {} : { lid }), ...(pn === undefined ? {} : { pn }) };
}

/** Returns whether a JID, in any form, is one of these ids. */
export function isPerson(jid: string | null | undefined, { lid, pn }: PersonIds): boolean {
  const person = toPersonJid(jid);
  return person !== undefined && (person === lid || person === pn);
}

/** `…@g.us`. */
export function isGroup(jid: string | null | undefined): boolean {
  return jid?.endsWith('@g.us') === true;
}

/** The id used in settings: digits for a number, or `…@lid` for an identity without a number. */
export function toPublicId(jid: string): string {
  return jid.replace(/@s\.whatsapp\.net$/, '');
}

const KIND = 'person';

/**
 * Decides which of a person's two ids the core uses. The core uses the number as soon as it is
 * known, so that a number in the settings also matches messages sent under an identity. Only people
 * who were allowed before their number was known keep the identity, because their chat and the
 * settings refer to it.
 */
export class ContactDirectory {
  readonly #values: AdapterValues;

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /** The JID that the core uses for a person; undefined if there is no id. */
  async jidOf({ lid, pn }: PersonIds): Promise<string | undefined> {
    if (lid === undefined || pn === undefined) return pn ?? lid;
    const kept = await this.#values.get(KIND, [lid]);
    return kept.has(lid) ? lid : pn;
  }

  /** Stores the identity of a person who was allowed while their number was unknown. */
  async keepIdentity({ lid, pn }: PersonIds): Promise<void> {
    if (lid === undefined || pn !== undefined) return;
    const kept = await this.#values.get(KIND, [lid]);
    if (!kept.has(lid)) await this.#values.set([{ kind: KIND, id: lid, value: 'identity' }]);
  }
}

type NamedGroups = readonly { readonly id?: string; readonly subject?: string }[];
type GroupSource = Pick<WASocket, 'groupFetchAllParticipating' | 'groupMetadata'>;

/** The maximum number of groups whose members are cached, at about 0.3 kB per member. */
const GROUPS = 200;

/**
 * Caches the titles and members of groups. With the cached members, sending a message does not
 * require a request. Any group change on the raw socket removes the group from the cache. Baileys
 * emits changes late, and a missing member could not decrypt the message.
 */
export class GroupCache {
  readonly #titles = new Map<string, string>();
  readonly #members = new BoundedMap<string, GroupMetadata>(GROUPS);
  readonly #log: Logger;
  #socket: GroupSource | undefined;
  /** Counts changes, so that an outdated response is not stored. */
  #changes = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  title(jid: string): string | undefined {
    return this.#titles.get(jid);
  }

  /** Changes between two connections are unknown, so the cache is emptied. */
  listen(socket: GroupSource & Pick<WASocket, 'ev' | 'ws'>): void {
    this.#socket = socket;
    this.#members.clear();
    this.#changes += 1;
    const changed = guarded('group notification', ({ attrs }: BinaryNode) => {
      this.#changes += 1;
      if (attrs.from !== undefined) this.#members.delete(attrs.from);
    });
    const note = guarded('groups', (groups: NamedGroups) => this.#note(groups));
    socket.ws.on('CB:notification,type:w:gp2', changed);
    socket.ev.on('groups.upsert', note);
    socket.ev.on('groups.update', note);
  }

  /** Requests all groups at once; messages do not wait for the response. */
  async askAll(): Promise<void> {
    const before = this.#changes;
    try {
      const all = Object.values((await this.#socket?.groupFetchAllParticipating()) ?? {});
      this.#note(all);
      if (before !== this.#changes) return;
      for (const group of all) this.#members.set(group.id, group);
    } catch {
      this.#log.debug({}, 'the groups cannot be requested from WhatsApp');
    }
  }

  /** The current state of a group, requested if it is not cached. Rejects if the request fails. */
  async find(jid: string): Promise<GroupMetadata | undefined> {
    const known = this.#members.get(jid);
    if (known !== undefined) {
      // Setting it again keeps the most recently used groups in the map.
      this.#members.set(jid, known);
      return known;
    }
    const before = this.#changes;
    const group = await this.#socket?.groupMetadata(jid);
    if (group === undefined) return undefined;
    this.#note([group]);
    if (before === this.#changes) this.#members.set(jid, group);
    return group;
  }

  /** Whether a person is an administrator of a group; false if this is unknown. */
  async isAdmin(jid: string, person: PersonIds): Promise<boolean> {
    const group = await this.find(jid).catch(() => undefined);
    const member = group?.participants?.find(({ id, phoneNumber, lid }) => {
      const names = toPersonIds(id, phoneNumber, lid);
      return isPerson(person.lid, names) || isPerson(person.pn, names);
    });
    return member?.admin === 'admin' || member?.admin === 'superadmin';
  }

  #note(groups: NamedGroups): void {
    for (const { id, subject } of groups) if (id && subject) this.#titles.set(id, subject);
  }
}
