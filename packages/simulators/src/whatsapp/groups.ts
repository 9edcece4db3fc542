import type { BinaryNode } from '@whiskeysockets/baileys';
import { buildNode } from './wire.ts';

/** A member of a group: a person or the bot's account. */
export interface Member {
  readonly lid: string;
  readonly pn?: string;
}

/** A group that uses LID addressing, like all new groups. */
export interface Group {
  readonly jid: string;
  readonly subject: string;
  readonly createdAt: number;
  readonly creator: Member;
  readonly members: readonly Member[];
  /** LIDs. */
  readonly admins: ReadonlySet<string>;
  /** Whether only admins may write. */
  readonly announce: boolean;
  /** The timer of disappearing messages, in seconds; 0 when it is off. */
  readonly ephemeral: number;
}

const FIRST_GROUP = 120_363_000_000_000_001n;

export class GroupStore {
  readonly #all = new Map<string, Group>();

  add(options: Omit<Group, 'jid'>): Group {
    const jid = `${FIRST_GROUP + BigInt(this.#all.size)}@g.us`;
    const group = { ...options, jid };
    this.#all.set(jid, group);
    return group;
  }

  /** @throws Error if no group has this JID */
  get(jid: string): Group {
    const group = this.#all.get(jid);
    if (group === undefined) throw new Error(`Unknown group ${jid}: call addGroup() first`);
    return group;
  }

  find(jid: string): Group | undefined {
    return this.#all.get(jid);
  }

  get all(): Group[] {
    return [...this.#all.values()];
  }

  change(jid: string, change: Partial<Omit<Group, 'jid'>>): Group {
    const changed = { ...this.get(jid), ...change };
    this.#all.set(jid, changed);
    return changed;
  }
}

/** Whether a person is in a group. */
export function isMember(group: Group, { lid }: { readonly lid: string }): boolean {
  return group.members.some((member) => member.lid === lid);
}

/** Builds the `<group>` node that describes a group. */
export function buildGroupNode(group: Group): BinaryNode {
  const { creator, jid, subject, createdAt, members, admins } = group;
  const seconds = Math.floor(createdAt / 1000);
  return buildNode(
    'group',
    {
      id: jid.split('@')[0],
      addressing_mode: 'lid',
      subject,
      s_t: seconds,
      s_o: creator.lid,
      s_o_pn: creator.pn,
      creation: seconds,
      creator: creator.lid,
      creator_pn: creator.pn,
      size: members.length,
    },
    [
      ...members.map((member) => buildParticipantNode(member, admins)),
      ...(group.announce ? [buildNode('announcement')] : []),
      ...(group.ephemeral > 0 ? [buildNode('ephemeral', { expiration: group.ephemeral })] : []),
    ],
  );
}

/** Builds the `<participant>` node of a member. */
export function buildParticipantNode(member: Member, admins: ReadonlySet<string>): BinaryNode {
  const type = admins.has(member.lid) ? 'admin' : undefined;
  return buildNode('participant', { jid: member.lid, phone_number: member.pn, type });
}
