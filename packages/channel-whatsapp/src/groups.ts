import { guarded } from '@parley/channels';
import type { Logger } from '@parley/contracts';
import type { BinaryNode, GroupMetadata, WASocket } from '@whiskeysockets/baileys';
import { isPerson, type PersonIds, personIds } from './jids.ts';

type Named = readonly { readonly id?: string; readonly subject?: string }[];
type Asked = Pick<WASocket, 'groupFetchAllParticipating' | 'groupMetadata'>;

/**
 * What is known of groups: titles, for facts, and who belongs to them, which saves a question for each
 * message that is sent. Whatever changes a group makes it unknown again, told by the bare wire: Baileys
 * tells of changes later than it sends, and a member who is missed could not read the message.
 */
export class Groups {
  readonly #titles = new Map<string, string>();
  readonly #members = new Map<string, GroupMetadata>();
  readonly #log: Logger;
  #socket: Asked | undefined;
  /** Counts changes, so that an answer that was overtaken by one is not kept. */
  #changes = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  title(jid: string): string | undefined {
    return this.#titles.get(jid);
  }

  /** Goes on with a new socket; what changed in between is not known. */
  listen(socket: Asked & Pick<WASocket, 'ev' | 'ws'>): void {
    this.#socket = socket;
    this.#members.clear();
    this.#changes += 1;
    const changed = guarded('group notification', ({ attrs }: BinaryNode) => {
      this.#changes += 1;
      if (attrs.from !== undefined) this.#members.delete(attrs.from);
    });
    const note = guarded('groups', (groups: Named) => this.#note(groups));
    socket.ws.on('CB:notification,type:w:gp2', changed);
    socket.ev.on('groups.upsert', note);
    socket.ev.on('groups.update', note);
  }

  /** Asks for all groups at once; no message waits for the answer. */
  async askAll(): Promise<void> {
    const before = this.#changes;
    try {
      const all = Object.values((await this.#socket?.groupFetchAllParticipating()) ?? {});
      this.#note(all);
      if (before !== this.#changes) return;
      for (const group of all) this.#members.set(group.id, group);
    } catch {
      this.#log.debug({}, 'WhatsApp does not tell of its groups');
    }
  }

  /** A group as it is now; asked for when it is not known. Rejects as the question does. */
  async find(jid: string): Promise<GroupMetadata | undefined> {
    const known = this.#members.get(jid);
    if (known !== undefined) return known;
    const before = this.#changes;
    const group = await this.#socket?.groupMetadata(jid);
    if (group === undefined) return undefined;
    this.#note([group]);
    if (before === this.#changes) this.#members.set(jid, group);
    return group;
  }

  /** Whether somebody is an administrator of a group; no, while that cannot be found out. */
  async isAdmin(jid: string, person: PersonIds): Promise<boolean> {
    const group = await this.find(jid).catch(() => undefined);
    const member = group?.participants?.find(({ id, phoneNumber, lid }) => {
      const names = personIds(id, phoneNumber, lid);
      return isPerson(person.lid, names) || isPerson(person.pn, names);
    });
    return member?.admin === 'admin' || member?.admin === 'superadmin';
  }

  #note(groups: Named): void {
    for (const { id, subject } of groups) if (id && subject) this.#titles.set(id, subject);
  }
}
