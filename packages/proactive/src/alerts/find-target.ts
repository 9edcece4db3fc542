import { type NamedChat, namedChat, type OwnersChatDeps, ownersChats } from '@parley/channels';
import type { Logger } from '@parley/contracts';
import type { InboxRow } from '@parley/store';
import type { BeatTarget, FindTarget } from '../heartbeat/beat-target.ts';
import { alertTarget, type KnownChat } from './alert-target.ts';

/** What finding out who is told needs. */
export interface FindTargetDeps extends OwnersChatDeps {
  /** An owner as `channel:userId`, or `last`. */
  readonly tell: string;
  /** Chats that the settings give a name. What people call their groups counts for nothing. */
  readonly chats: Readonly<Record<string, NamedChat>>;
  readonly log: Logger;
}

interface Candidate {
  readonly known: KnownChat;
  readonly row: InboxRow;
}

/** Finds the chat of each task's alerts: an owner's, or the group which the task names (H04). */
export function createFindTarget(deps: FindTargetDeps): FindTarget {
  return async ({ name, tell }) => {
    const own = await ownersCandidates(deps);
    const named = tell === undefined ? null : await namedCandidate(deps, tell);
    const chosen = alertTarget({
      tell: tell === undefined ? undefined : { name: tell, chat: named?.known ?? null },
      choice: deps.tell,
      // Linked accounts of owners are theirs, too, and were found to be just now.
      owners: [...deps.owners, ...own.flatMap(({ known: { person } }) => person ?? [])],
      chats: own.map(({ known }) => known),
    });
    if (chosen.kind === 'nobody') return { kind: 'none', reason: chosen.reason };
    if (chosen.note !== undefined) deps.log.warn({ task: name }, chosen.note);
    return targetOf(named === null ? own : [...own, named], chosen.chat);
  };
}

async function ownersCandidates(deps: FindTargetDeps): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  for await (const { last, conversationId } of ownersChats(deps)) {
    const { channel, sender } = last.message;
    const person = `${channel}:${sender.id}`;
    const known = {
      conversationId,
      kind: 'direct',
      person,
      ownerWroteAt: last.receivedAt,
    } as const;
    found.push({ known, row: last });
  }
  return found;
}

/** The chat that a task names: by its name in the settings, or as `channel:chatId`. */
async function namedCandidate(deps: FindTargetDeps, tell: string): Promise<Candidate | null> {
  const named = namedIn(deps.chats, tell) ?? byId(tell);
  if (named === undefined) return null;
  const found = await namedChat(deps, tell, named);
  if (found.kind === 'none' || !found.inThread) return null;
  const { last } = found;
  const kind = last.message.chat.type === 'direct' ? 'direct' : 'group';
  return { known: { conversationId: last.conversationId, kind }, row: last };
}

function namedIn(chats: FindTargetDeps['chats'], name: string): NamedChat | undefined {
  return Object.hasOwn(chats, name) ? chats[name] : undefined;
}

function byId(tell: string): NamedChat | undefined {
  const [, channel, chat] = /^([a-z][a-z0-9-]*):(\S+)$/.exec(tell.trim()) ?? [];
  if (channel === undefined || chat === undefined) return undefined;
  return { channel, account: 'default', chat };
}

function targetOf(candidates: readonly Candidate[], chat: KnownChat): BeatTarget {
  const chosen = candidates.find(({ known }) => known === chat);
  if (chosen === undefined) throw new Error('The chosen chat is none of those that were offered.');
  const { row, known } = chosen;
  return {
    kind: 'chat',
    conversationId: known.conversationId,
    route: row.route,
    last: row.message,
    isOwners: known.kind === 'direct',
  };
}
