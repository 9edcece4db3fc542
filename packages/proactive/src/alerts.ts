import { createHash } from 'node:crypto';
import {
  findNamedChat,
  listOwnerChats,
  type NamedChat,
  type OwnerChatDeps,
} from '@parley/channels';
import type { Logger, Runtime } from '@parley/core';
import type { HeartbeatRun, InboxRow, Store } from '@parley/store';
import {
  type AlertChat,
  chooseAlertTarget,
  type KnownAlertChat,
  type NoAlertChat,
} from './alert-target.ts';
import { parseDayWindow, type StandingTask } from './heartbeat/task.ts';
import {
  createZoneClock,
  type DayWindow,
  findWindowAt,
  formatWallMinute,
  type ZoneClock,
} from './zone-clock.ts';

/** Finds the chat for a task's alerts: an owner's chat, or the group that the task names. */
export type FindAlertTarget = (
  task: Pick<StandingTask, 'name' | 'tell'>,
) => Promise<AlertChat | NoAlertChat>;

export interface AlertTargetServices extends OwnerChatDeps {
  readonly tell: string;
  /** The chats named in the settings. Titles that people give to groups are ignored. */
  readonly chats: Readonly<Record<string, NamedChat>>;
  readonly log: Logger;
}

interface AlertCandidate extends KnownAlertChat {
  readonly row: InboxRow;
}

/**
 * Creates the function that finds the chat for a task's alerts: an owner's chat, or the group that
 * the task names (H04).
 */
export function createAlertTargetFinder(deps: AlertTargetServices): FindAlertTarget {
  return async ({ name, tell }) => {
    const own = await listOwnerCandidates(deps);
    const chosen = chooseAlertTarget({
      tell:
        tell === undefined ? undefined : { name: tell, chat: await findNamedCandidate(deps, tell) },
      choice: deps.tell,
      // Includes accounts that owners have linked.
      owners: [...deps.owners, ...own.flatMap(({ person }) => person ?? [])],
      chats: own,
    });
    if (chosen.kind === 'none') return chosen;
    if (chosen.note !== undefined) deps.log.warn({ task: name }, chosen.note);
    const { conversationId, kind, row } = chosen.chat;
    const { route, message: last } = row;
    return { kind: 'chat', conversationId, route, last, isOwners: kind === 'direct' };
  };
}

async function listOwnerCandidates(deps: AlertTargetServices): Promise<readonly AlertCandidate[]> {
  const found: AlertCandidate[] = [];
  for await (const { last: row, conversationId } of listOwnerChats(deps)) {
    const person = `${row.message.channel}:${row.message.sender.id}`;
    found.push({ conversationId, kind: 'direct', person, ownerWroteAt: row.receivedAt, row });
  }
  return found;
}

/** Returns the chat that a task names, by its name in the settings or as `channel:chatId`. */
async function findNamedCandidate(
  deps: AlertTargetServices,
  tell: string,
): Promise<AlertCandidate | null> {
  const named = Object.hasOwn(deps.chats, tell) ? deps.chats[tell] : parseNamedChat(tell);
  if (named === undefined) return null;
  const found = await findNamedChat(deps, tell, named);
  if (found.kind === 'none' || !found.inThread) return null;
  const { last: row } = found;
  const kind = row.message.chat.type === 'direct' ? 'direct' : 'group';
  return { conversationId: row.conversationId, kind, row };
}

function parseNamedChat(tell: string): NamedChat | undefined {
  const [, channel, chat] = /^([a-z][a-z0-9-]*):(\S+)$/.exec(tell.trim()) ?? [];
  if (channel === undefined || chat === undefined) return undefined;
  return { channel, account: 'default', chat };
}

/**
 * After this many consecutive failures, the cause is probably not a temporary problem at the
 * provider.
 */
const IN_A_ROW = 3;
const MAX_CHARACTERS = 200;

interface FailureServices extends Pick<Runtime, 'clock'> {
  readonly agent: { readonly id: string; readonly timeZone: string };
  readonly store: Pick<Store, 'heartbeats'>;
  readonly settings: { readonly quietHours: string };
  readonly notify: (key: string, text: string) => Promise<void>;
}

/** Notifies the owner, once a day and outside the quiet hours, if runs keep failing. */
export async function reportFailures({
  store,
  agent,
  settings,
  notify,
  clock,
}: FailureServices): Promise<void> {
  const text = formatFailures(await store.heartbeats.recent(agent.id, IN_A_ROW));
  const zone = createZoneClock(agent.timeZone);
  const now = clock();
  const hours = readQuietHours(settings.quietHours);
  if (text === null || computeQuietHoursEnd(hours, { clock: zone, now }) !== null) return;
  const day = formatWallMinute(now, agent.timeZone).slice(0, 10);
  await notify(`beats-failed:${agent.id}:${day}`, text);
}

/**
 * Formats the notice about failed runs, which are ordered from newest to oldest; returns null
 * unless all of them failed.
 */
function formatFailures(runs: readonly HeartbeatRun[]): string | null {
  const [last] = runs;
  if (last === undefined || runs.length < IN_A_ROW) return null;
  if (runs.some(({ state }) => state !== 'failed')) return null;
  const tasks = [...new Set(runs.map(({ task }) => task))].join(', ');
  const why = (last.reason ?? 'unknown').replace(/[`\s]+/g, ' ').slice(0, MAX_CHARACTERS);
  return `My standing tasks have failed ${IN_A_ROW} times in a row (${tasks}). The last time: \`${why}\`. I’ll keep trying; /heartbeat shows the state.`;
}

/** Reads the quiet hours for alerts (H04) from the settings; null for `off` or an empty value. */
export function readQuietHours(written: string): DayWindow | null {
  return written.trim().toLowerCase() === 'off' ? null : parseDayWindow(written);
}

/** Returns the time (ms) until which an alert must wait; null if it can be sent now. */
export function computeQuietHoursEnd(
  hours: DayWindow | null,
  { clock, now }: { readonly clock: ZoneClock; readonly now: number },
): number | null {
  return hours === null ? null : (findWindowAt(clock, hours, now)?.end ?? null);
}

const HOUR_MS = 60 * 60_000;

/**
 * Computes a fingerprint that is equal for alerts with the same content (H04): only letters and
 * digits are compared; Markdown marks, case, spaces, punctuation, pictographs and invisible
 * characters are ignored.
 */
export function fingerprintAlert(text: string): string {
  const letters = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}|[^\p{L}\p{M}\p{N}]/gu, '');
  // An alert may consist entirely of pictographs.
  const said = letters === '' ? text.replace(/[\s\p{Cf}]+/gu, '') : letters;
  return createHash('sha256').update(said).digest('hex').slice(0, 32);
}

/** How long an alert with the same content counts as a repetition, in ms. */
export function computeRepeatStart(now: number, repeatHours: number): number {
  return now - repeatHours * HOUR_MS;
}
