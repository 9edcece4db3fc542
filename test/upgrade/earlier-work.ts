import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { waitUntilConnected } from '../e2e/channel-states.ts';
import {
  type BusyParley,
  formatToolRequest,
  listAnswers,
  runParleyCommand,
  sendAndWait,
  waitForCode,
  waitForResult,
  waitForRow,
} from './asked.ts';
import { OWNER, SECOND_OWNER } from './later-work.ts';

const BO = 502;
const GROUP = -5;
/** The group that `tools.message.chats` of the fixture calls `reminders`. */
const JOBS = -7;
const OTHER_GROUP = -6;
const STRANGER = 999;
/** Cleo's account on Discord, linked to Bo's. */
export const CLEO = '200000000000000700';
/** Dora's account; she has entered the owner's code, but the owner has not confirmed it. */
export const DORA = '200000000000000701';

const Opened = z.object({ session: z.string() });

/** Values that a test needs but the database does not contain. */
export interface EarlierWork {
  /** The tokens of a person with read-only access to status pages, and of a signed-in browser. */
  readonly viewer: string;
  readonly session: string;
  /** Ids of a message that was answered and of one that was refused. */
  readonly answered: string;
  readonly refused: string;
}

/**
 * Makes Parley do the work that is finished before the kill: history, memory, access, dead letters
 * and so on.
 */
export async function doEarlierWork(asked: BusyParley): Promise<EarlierWork> {
  await waitUntilConnected(asked.parley);
  await runParleyCommand(asked, 'channels', 'pause', 'board');
  const answered = await sendAndWait(asked, OWNER, 'q1 hello', 'This answers q1');
  await useTools(asked);
  await admitPeople(asked);
  await linkAccounts(asked);
  await failToSend(asked);
  await runParleyCommand(asked, 'heartbeat', 'now', 'calendar');
  await waitForRow(asked, "select 1 from heartbeat_run where task = 'calendar' and state = 'held'");
  const refused = await writeInGroups(asked);
  const printed = await runParleyCommand(asked, 'people', 'add', 'Cleo', '--role', 'viewer');
  const [viewer = ''] = /parley_signin_[\w-]+/.exec(printed) ?? [];
  const session = await signIn(asked);
  const headers = { authorization: `Bearer ${session}` };
  await fetch(`${asked.parley.address}/api/conversations/search?words=tea`, { headers });
  await waitForRow(asked, 'select 1 from retention_run');
  return { viewer, session, answered, refused };
}

/** Memory, a to-do list, a summary, a proposal for SOUL.md, and a job for another day. */
async function useTools(asked: BusyParley): Promise<void> {
  const quote = 'I like green tea.';
  const memory = formatToolRequest('save_memory', { type: 'preference', scope: 'user', quote });
  await sendAndWait(asked, OWNER, `${quote}\nq2 ${memory}`, 'This answers q2');
  const todos = [{ text: 'Buy green tea', state: 'doing' }];
  await sendAndWait(
    asked,
    OWNER,
    `q3 ${formatToolRequest('write_todos', { todos })}`,
    'This answers q3',
  );
  await sendAndWait(asked, OWNER, '/compact', '⚙️');
  const soul = readFileSync(join(asked.data, 'workspace/SOUL.md'), 'utf8');
  const text = `${soul.trim()}\n- Whistle while you work.`;
  const proposal = formatToolRequest('propose_soul_change', {
    text,
    reason: 'The owner asked me to.',
  });
  const answered = sendAndWait(asked, OWNER, `q4 ${proposal}`, 'This answers q4');
  const code = await waitForCode(asked, OWNER, 'approve');
  asked.world.telegram.say({ chat: OWNER, text: `/approve ${code}` });
  await answered;
  // A job can only target a known group.
  const { telegram } = asked.world;
  telegram.say({ chat: JOBS, from: OWNER, text: `@${telegram.me.username} q34 hello` });
  await waitForResult('q34', async () => listAnswers(asked, JOBS).length > 0);
  const daily = ['--every', 'daily at 8:00', '--to', 'reminders'];
  await runParleyCommand(asked, 'cron', 'add', 'q31 stretch', ...daily);
}

/**
 * A waiting stranger, an admitted one who has chosen another mode, and an owner with another model.
 */
async function admitPeople(asked: BusyParley): Promise<void> {
  await sendAndWait(asked, BO, 'q5 may I?', 'code');
  const pending = "select code from pairing_request where sender_id = '502'";
  await runParleyCommand(asked, 'pair', String((await waitForRow(asked, pending)).code));
  await sendAndWait(asked, BO, 'q6 thank you', 'This answers q6');
  await sendAndWait(asked, BO, '/mode ask', 'ask');
  await sendAndWait(asked, SECOND_OWNER, '/model double-two', 'double-two');
  await sendAndWait(asked, STRANGER, 'q7 may I, too?', 'code');
}

/** A linked account, and one that the owner has not confirmed yet. */
async function linkAccounts(asked: BusyParley): Promise<void> {
  const { telegram, discord } = asked.world;
  const typeCode = async (chat: number, person: string): Promise<void> => {
    telegram.say({ chat, text: '/link' });
    const code = await waitForCode(asked, chat, 'link');
    discord.say({ channel: discord.dmWith(person), from: person, text: `/link ${code}` });
  };
  await typeCode(BO, CLEO);
  await waitForRow(asked, 'select 1 from person_link');
  await typeCode(OWNER, DORA);
  await waitForRow(asked, 'select 1 from link_code where redeemer_id is not null');
}

/** A part that Telegram permanently refused, and one that may or may not have arrived. */
async function failToSend(asked: BusyParley): Promise<void> {
  const { telegram } = asked.world;
  const description = 'Forbidden: bot was blocked by the user';
  telegram.fault({ kind: 'refuse', code: 403, description, method: 'sendMessage', chat: 503 });
  telegram.say({ chat: 503, text: 'q8 hello' });
  await waitForRow(asked, 'select 1 from dead_letter');
  telegram.fault({ kind: 'reset', after: true, method: 'sendMessage', chat: 504 });
  telegram.say({ chat: 504, text: 'q9 hello' });
  await waitForRow(asked, "select 1 from outbox where chat_id = '504' and state = 'unknown'");
}

/** Group talk that does not address the bot, and a message in a group that it does not serve. */
async function writeInGroups(asked: BusyParley): Promise<string> {
  const { telegram } = asked.world;
  telegram.say({ chat: GROUP, from: BO, text: 'The weather is fine.' });
  const refused = telegram.say({
    chat: OTHER_GROUP,
    from: BO,
    text: `@${telegram.me.username} hello`,
  });
  await waitForRow(asked, 'select 1 from group_context');
  await waitForRow(asked, `select 1 from ingress_decision where chat_id = '${OTHER_GROUP}'`);
  return String(refused.message_id);
}

async function signIn({ parley }: BusyParley): Promise<string> {
  const body = JSON.stringify({ token: parley.token });
  const response = await fetch(`${parley.address}/api/sessions`, { method: 'POST', body });
  return Opened.parse(await response.json()).session;
}

/** The settings of the fixture without quiet hours for the heartbeat. */
export function removeQuietHours(settings: string): string {
  return settings.replace('"00:00-23:59"', '"off"');
}

/** Ends the quiet hours by editing the settings file. */
export async function endQuietHours(asked: BusyParley): Promise<void> {
  asked.edit(removeQuietHours);
  const isUsed = async () => asked.parley.err().includes('the settings were read again');
  await waitForResult('the new settings are used', isUsed);
}
