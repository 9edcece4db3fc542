import { createHash } from 'node:crypto';
import { type NamedChat, namedChat, type OwnersChatDeps, ownersChats } from '@parley/channels';
import type { Clock, Logger } from '@parley/contracts';
import type { BeatRun, InboxRow, Store } from '@parley/store';
import type { BeatTarget, FindTarget } from './heartbeat/order.ts';
import { readWindow } from './heartbeat/task.ts';
import { type DayWindow, windowAt, type ZoneClock, zoneClock } from './zone-clock.ts';

/** A possible chat for an alert. */
export interface KnownChat {
  readonly conversationId: string;
  readonly kind: 'direct' | 'group';
  /** The person in a direct chat, as `channel:userId`. */
  readonly person?: string;
  /** When an owner last wrote here (ms); absent: never. */
  readonly ownerWroteAt?: number;
}

/** The group that a task names, and the chat with that name; null: none. */
interface NamedGroup {
  readonly name: string;
  readonly chat: KnownChat | null;
}

/** Inputs of the decision. */
export interface TargetFacts {
  /** Absent: the task names none. */
  readonly tell?: NamedGroup | undefined;
  /** The setting: an owner as `channel:userId`, or `last`. */
  readonly choice: string;
  /** As `channel:userId`. */
  readonly owners: readonly string[];
  /** Direct chats. */
  readonly chats: readonly KnownChat[];
}

/** Where an alert goes; `note`: why it goes elsewhere than the task says. */
type AlertTarget =
  | { readonly kind: 'chat'; readonly chat: KnownChat; readonly note?: string }
  | { readonly kind: 'nobody'; readonly reason: string };

/**
 * Decides before the model runs (H04): the group that the task names, else a direct chat of an owner, and
 * nothing else. An unknown name leads to the owner.
 */
export function alertTarget({ tell, ...facts }: TargetFacts): AlertTarget {
  if (tell === undefined) return ownersChat(facts);
  if (tell.chat?.kind === 'group') return { kind: 'chat', chat: tell.chat };
  const note = `no group is called "${tell.name}", so the owner is told`;
  const chosen = ownersChat(facts);
  return chosen.kind === 'chat' ? { ...chosen, note } : chosen;
}

function ownersChat({ choice, owners, chats }: Omit<TargetFacts, 'tell'>): AlertTarget {
  const own = chats.filter(
    ({ kind, person }) => kind === 'direct' && person !== undefined && owners.includes(person),
  );
  const chosen = choice === 'last' ? own : own.filter(({ person }) => person === choice);
  // Only a chat in which an owner has written is known to reach them.
  const wrote = chosen.filter(({ ownerWroteAt }) => ownerWroteAt !== undefined);
  const [latest] = wrote.toSorted((a, b) => (b.ownerWroteAt ?? 0) - (a.ownerWroteAt ?? 0));
  if (latest !== undefined) return { kind: 'chat', chat: latest };
  return { kind: 'nobody', reason: noChat(choice, owners) };
}

function noChat(choice: string, owners: readonly string[]): string {
  if (owners.length === 0) return 'the settings name no owner';
  if (choice === 'last') return 'no owner has written in a direct chat yet';
  if (!owners.includes(choice)) return `heartbeat.tell is ${choice}, which is none of the owners`;
  return `${choice} has not written in a direct chat yet`;
}

export interface FindTargetDeps extends OwnersChatDeps {
  /** An owner as `channel:userId`, or `last`. */
  readonly tell: string;
  /** Chats named in the settings. Titles that people give their groups do not count. */
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
      // Linked accounts of owners count as theirs, as checked just now.
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

export interface TellFailuresDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  /** As in the settings: `off`, or `22:00-07:00`. */
  readonly settings: { readonly quietHours: string };
  /** Writes to the owner's direct chat, once for each key, however often it is called. */
  readonly tell: (key: string, words: string) => Promise<void>;
  readonly clock: Clock;
}

/** This many failures in a row are no accident of the provider. */
const IN_A_ROW = 3;
const LONGEST = 200;

/** Notifies the owner, once a day and outside the quiet hours, that runs keep failing. */
export function tellFailures({ store, agent, settings, tell, clock }: TellFailuresDeps) {
  const hours = readQuietHours(settings.quietHours);
  const zone = zoneClock(agent.timeZone);
  return async (): Promise<void> => {
    const words = failureText(await store.heartbeats.recent(agent.id, IN_A_ROW));
    const now = clock();
    if (words === null || quietUntil(hours, { clock: zone, now }) !== null) return;
    const day = new Date(zone.wallAt(now)).toISOString().slice(0, 10);
    await tell(`beats-failed:${agent.id}:${day}`, words);
  };
}

/** @param runs the newest first; null unless all of them failed. */
function failureText(runs: readonly BeatRun[]): string | null {
  const [last] = runs;
  if (last === undefined || runs.length < IN_A_ROW) return null;
  if (runs.some(({ state }) => state !== 'failed')) return null;
  const tasks = [...new Set(runs.map(({ task }) => task))].join(', ');
  const why = (last.reason ?? 'unknown').replace(/[`\s]+/g, ' ').slice(0, LONGEST);
  return `My standing tasks have failed ${IN_A_ROW} times in a row (${tasks}). The last time: \`${why}\`. I go on trying; /heartbeat shows how it stands.`;
}

/** The hours without alerts (H04), from the settings; null: `off` or empty. */
export function readQuietHours(written: string): DayWindow | null {
  return written.trim().toLowerCase() === 'off' ? null : readWindow(written);
}

/** Until when (ms) an alert waits; null where it may go at once. */
export function quietUntil(
  hours: DayWindow | null,
  { clock, now }: { readonly clock: ZoneClock; readonly now: number },
): number | null {
  return hours === null ? null : (windowAt(clock, hours, now)?.end ?? null);
}

const HOUR_MS = 60 * 60_000;

/**
 * The same for two alerts that say the same (H04): marks, case, space, stops, pictures and what nobody
 * sees do not count; letters and digits do. 32 hexadecimal digits.
 */
export function alertFingerprint(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}|[^\p{L}\p{M}\p{N}]/gu, '');
  // Nothing but pictures is an alert, too.
  const said = words === '' ? text.replace(/[\s\p{Cf}]+/gu, '') : words;
  return createHash('sha256').update(said).digest('hex').slice(0, 32);
}

/** From when on (ms) the same alert counts as told already. */
export function repeatSince(now: number, repeatHours: number): number {
  return now - repeatHours * HOUR_MS;
}
