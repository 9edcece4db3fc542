import { randomBytes } from 'node:crypto';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { getTimeInSeconds, type SimulatedAccount } from './account.ts';
import {
  buildGroupNode,
  buildParticipantNode,
  type Group,
  isMember,
  type Member,
} from './groups.ts';
import type { Person } from './people.ts';
import { buildNode } from './wire.ts';

function toMember({ lid, pn }: Person): Member {
  return pn === undefined ? { lid } : { lid, pn };
}

export const GroupOptions = z.strictObject({
  subject: z.string(),
  /**
   * The group members as JIDs or numbers; the bot is `double.me`. The first member creates the
   * group and is its admin.
   */
  members: z.array(z.string()).readonly(),
  /** Whether only admins may write. */
  announce: z.boolean().optional(),
  /** The timer of disappearing messages, in seconds. */
  ephemeral: z.number().optional(),
});

export type GroupOptions = z.infer<typeof GroupOptions>;

const by = z.string().optional();
const who = z.array(z.string()).readonly();

/** A change to a group and the person who makes it (by default, the creator). */
export const GroupChange = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['add', 'remove', 'promote', 'demote']), who, by }),
  z.strictObject({ kind: z.literal('subject'), subject: z.string(), by }),
  z.strictObject({ kind: z.literal('announce'), on: z.boolean(), by }),
  /** The timer of disappearing messages, in seconds; 0 turns it off. */
  z.strictObject({ kind: z.literal('ephemeral'), seconds: z.number(), by }),
]);

export type GroupChange = z.infer<typeof GroupChange>;

/** People's actions in groups; the bot is notified if it is a member. */
export class GroupActions {
  readonly #account: SimulatedAccount;

  constructor(account: SimulatedAccount) {
    this.#account = account;
  }

  add({ subject, members, announce = false, ephemeral = 0 }: GroupOptions): Group {
    const people = members.map((jid) => this.#account.people.get(jid));
    const [creator] = people;
    if (creator === undefined) throw new Error('A group needs at least one member');
    const group = this.#account.groups.add({
      subject,
      createdAt: this.#account.clock(),
      creator: toMember(creator),
      members: people.map(toMember),
      admins: new Set([creator.lid]),
      announce,
      ephemeral,
    });
    if (people.includes(this.#account.me)) this.#tell(group, creator, buildCreateNode(group));
    return group;
  }

  change(jid: string, change: GroupChange): Group {
    const { groups, people, me } = this.#account;
    const before = groups.get(jid);
    const by = people.get(change.by ?? before.creator.lid);
    const after = groups.change(jid, this.#applied(before, change));
    if (!isMember(before, me) && isMember(after, me)) this.#tell(after, by, buildCreateNode(after));
    else if (isMember(before, me)) this.#tell(after, by, this.#node(change));
    return after;
  }

  #applied(group: Group, change: GroupChange): Partial<Omit<Group, 'jid'>> {
    if (change.kind === 'subject') return { subject: change.subject };
    if (change.kind === 'announce') return { announce: change.on };
    if (change.kind === 'ephemeral') return { ephemeral: change.seconds };
    const who = this.#people(change.who).map(toMember);
    const lids = who.map(({ lid }) => lid);
    if (change.kind === 'promote') return { admins: new Set([...group.admins, ...lids]) };
    const others = new Set([...group.admins].filter((lid) => !lids.includes(lid)));
    if (change.kind === 'demote') return { admins: others };
    const rest = group.members.filter(({ lid }) => !lids.includes(lid));
    return change.kind === 'remove'
      ? { members: rest, admins: others }
      : { members: [...rest, ...who] };
  }

  #node(change: GroupChange): BinaryNode {
    if (change.kind === 'subject') return buildNode('subject', { subject: change.subject });
    if (change.kind === 'announce')
      return buildNode(change.on ? 'announcement' : 'not_announcement');
    if (change.kind === 'ephemeral') {
      const { seconds: expiration } = change;
      return expiration > 0 ? buildNode('ephemeral', { expiration }) : buildNode('not_ephemeral');
    }
    const none = new Set<string>();
    const who = this.#people(change.who).map((person) =>
      buildParticipantNode(toMember(person), none),
    );
    return buildNode(change.kind, {}, who);
  }

  #tell(group: Group, by: Person, change: BinaryNode): void {
    const attrs = {
      from: group.jid,
      type: 'w:gp2',
      id: randomBytes(4).readUInt32BE(),
      t: getTimeInSeconds(this.#account),
      participant: by.lid,
      participant_pn: by.pn,
      notify: by.name,
      addressing_mode: 'lid',
    };
    this.#account.mailbox.put(buildNode('notification', attrs, [change]), group.jid);
  }

  #people(jids: readonly string[]): Person[] {
    return jids.map((jid) => this.#account.people.get(jid));
  }
}

function buildCreateNode(group: Group): BinaryNode {
  return buildNode('create', { type: 'new' }, [buildGroupNode(group)]);
}
