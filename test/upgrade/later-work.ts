import { FILES } from '../conformance/channels/files.ts';
import { createWebClient } from '../e2e/web-client.ts';
import {
  type BusyParley,
  formatToolRequest,
  runParleyCommand,
  sendAndWait,
  waitForRow,
} from './asked.ts';

/** The owner who receives alerts, and another owner. */
export const OWNER = 501;
export const SECOND_OWNER = 500;
/** The hook token in the settings of the fixture. */
const HOOK_TOKEN = 'hook-token-0123456789abcdef0123456789';
const DESK_TOKEN = 'desk-token-0123456789abcdef0123456789';
const AGAIN = 'Too Many Requests: retry after 60';

/**
 * Values that a test needs but the database does not contain: the codes of the waiting call and
 * question.
 */
export interface LaterWork {
  readonly approval: string;
  readonly choice: string;
}

/**
 * Makes Parley start the work that the kill interrupts. Numbers identify questions
 * (`model-words.ts`).
 */
export async function beginWork(asked: BusyParley): Promise<LaterWork> {
  const { held } = asked.world;
  for (const name of ['q11 then', 'q12', 'q16', 'q26', 'q28', 'q32', 'q41', 'q42', 'task q22'])
    held.add(name);
  held.add('mail');
  await beginCalls(asked);
  await keepWaiting(asked);
  const { approval, choice } = await askPeople(asked);
  await startProactiveWork(asked);
  await postponeTurn(asked);
  const due = ['--at', 'in 50 s', '--to', 'reminders'];
  await runParleyCommand(asked, 'cron', 'add', 'q30 water the plants', ...due);
  await keepParts(asked);
  return { approval, choice };
}

/** A message that is accepted but not claimed by a turn: the kill follows immediately. */
export async function writeLastMessage(asked: BusyParley): Promise<void> {
  // The pictures of an album wait for further pictures, so no turn has started.
  const picture = { kind: 'photo', bytes: FILES.picture } as const;
  asked.world.telegram.say({ chat: 604, text: 'q18', file: picture, album: 'birds' });
  await waitForRow(asked, "select 1 from inbox where chat_id = '604' and state = 'waiting'");
  // Parley gives up a part some seconds after sending it to an unresponsive platform, and jobs
  // become due.
  const isAsMeant = `select 1 where (select count(*) from outbox where state = 'sending') = 2
    and (select state from cron_job where task like 'q30%') = 'on'
    and (select count(*) from inbox where chat_id = '609' and state = 'claimed') = 1`;
  if ((await asked.row(isAsMeant)) === undefined) throw new Error('The kill comes too late.');
}

/** Journal steps of the running turn in a chat. */
const steps = (chat: number, least: number) =>
  `select 1 from turn where state = 'running'
    and id in (select turn_id from inbox where chat_id = '${chat}')
    and (select count(*) from turn_step where turn_id = turn.id) >= ${least}`;

/** A started call with its effect, and a call whose result is in the journal. */
async function beginCalls(asked: BusyParley): Promise<void> {
  const { telegram } = asked.world;
  const slow = formatToolRequest('ring_bell', { who: 'q10', slow: true });
  telegram.say({ chat: 601, text: `q10 ${slow}` });
  telegram.say({ chat: 602, text: `q11 ${formatToolRequest('ring_bell', { who: 'q11' })}` });
  await waitForRow(asked, steps(601, 2));
  await waitForRow(asked, steps(602, 3));
}

/** Messages behind a running turn, on three channels, and one with its picture. */
async function keepWaiting(asked: BusyParley): Promise<void> {
  const { telegram, discord, rooms } = asked.world;
  for (const number of [12, 13, 14, 15]) telegram.say({ chat: 603, text: `q${number} hello` });
  const channel = rooms.busy;
  for (const number of [16, 17])
    discord.say({ channel, text: `<@${discord.me.id}> q${number} hello` });
  const picture = { kind: 'photo', bytes: FILES.picture } as const;
  telegram.say({ chat: 610, text: 'q26', file: picture });
  await createWebClient(asked.parley).post('q28 hello');
  await waitForRow(asked, "select 1 from inbox where chat_id = '610' and state = 'claimed'");
  const waiting = (chat: string, count: number) =>
    `select 1 where (select count(*) from inbox where chat_id = '${chat}' and state = 'waiting') = ${count}`;
  await waitForRow(asked, waiting('603', 3));
  await waitForRow(asked, waiting(channel, 1));
}

/** A call that waits for approval, a question with choices, and a sub-agent. */
async function askPeople(asked: BusyParley): Promise<LaterWork> {
  const note = { path: 'notes/birds.md', text: 'Parrots talk.' };
  await sendAndWait(asked, SECOND_OWNER, `q33 ${formatToolRequest('write', note)}`, '/approve');
  const choices = { question: 'Which colour?', choices: ['Blue', 'Red'] };
  await sendAndWait(asked, 605, `q20 ${formatToolRequest('ask_user', choices)}`, 'Which colour?');
  const task = { title: 'parrots', task: 'q22 find out what parrots do' };
  await sendAndWait(
    asked,
    606,
    `q21 ${formatToolRequest('delegate_task', task)}`,
    'This answers q21',
  );
  await waitForRow(asked, "select 1 from sub_agent where state = 'running'");
  const code = async (where: string) =>
    String(
      (await waitForRow(asked, `select code from approval where state = 'pending' and ${where}`))
        .code,
    );
  return { approval: await code("tool = 'write'"), choice: await code('choices is not null') };
}

/** A heartbeat task, a job and external events, all in progress. */
async function startProactiveWork(asked: BusyParley): Promise<void> {
  const { address } = asked.parley;
  await runParleyCommand(asked, 'heartbeat', 'now', 'mail');
  await runParleyCommand(
    asked,
    'cron',
    'add',
    'q32 feed the cat',
    '--at',
    'in 2 h',
    '--to',
    'reminders',
  );
  const { id } = await waitForRow(asked, "select id from cron_job where task like 'q32%'");
  await runParleyCommand(asked, 'cron', 'run', String(id));
  const post = (path: string, token: string, body: object) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post('/hooks/ci', HOOK_TOKEN, { build: 'q41' });
  // This request is answered after the kill, when the client has disconnected.
  const messages = [{ role: 'user', content: 'q42 hello' }];
  void post('/v1/chat/completions', DESK_TOKEN, { messages }).catch(() => undefined);
  await waitForRow(asked, "select 1 from heartbeat_run where task = 'mail' and state = 'running'");
  await waitForRow(asked, "select 1 from heartbeat_run where task = 'ci' and state = 'running'");
  await waitForRow(asked, "select 1 from inbox where message like '%q32%' and state = 'claimed'");
  await waitForRow(asked, "select 1 from inbox where message like '%q42%' and state = 'claimed'");
}

/** Parts that Telegram postpones, one with a file, and parts that are being sent. */
async function keepParts(asked: BusyParley): Promise<void> {
  const { telegram, discord, rooms } = asked.world;
  const tooMany = { kind: 'refuse', code: 429, description: AGAIN } as const;
  const parameters = { retry_after: 60 };
  telegram.fault({ ...tooMany, parameters, chat: 607, times: 100 });
  telegram.say({ chat: 607, text: 'q23 hello' });
  for (const method of ['sendPhoto', 'sendDocument'])
    telegram.fault({ ...tooMany, parameters, method, chat: OWNER, times: 100 });
  telegram.say({
    chat: OWNER,
    text: `q27 ${formatToolRequest('send_file', { file: 'chart.png' })}`,
  });
  telegram.fault({ kind: 'hang', method: 'sendMessage', chat: 608 });
  telegram.say({ chat: 608, text: 'q24 hello' });
  const channel = rooms.sending;
  discord.fault({ kind: 'hang', call: `POST /channels/${channel}/messages`, times: 100 });
  discord.say({ channel, text: `<@${discord.me.id}> q29 hello` });
  const part = (chat: string, state: string) =>
    `select 1 from outbox where chat_id = '${chat}' and state = '${state}' and not_before > created_at`;
  await waitForRow(asked, part('607', 'pending'));
  await waitForRow(asked, part(String(OWNER), 'pending'));
  await waitForRow(asked, `select 1 from outbox where chat_id = '608' and state = 'sending'`);
  await waitForRow(
    asked,
    `select 1 from outbox where chat_id = '${channel}' and state = 'sending'`,
  );
}

/** A turn whose model is unavailable for most of a minute. */
async function postponeTurn(asked: BusyParley): Promise<void> {
  const { telegram, model } = asked.world;
  model.fault({ kind: 'status', status: 503, retryAfter: '50' }, 10);
  telegram.say({ chat: 609, text: 'q25 hello' });
  await waitForRow(asked, 'select 1 from turn where put_off_since is not null');
  model.clearFaults();
}
