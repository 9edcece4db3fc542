import { composed, type Database } from '../database.ts';

type Value = string | number | Uint8Array | null;

interface FilledRow {
  readonly table: string;
  readonly row: Readonly<Record<string, Value>>;
}

const CHAT = { channel: 'telegram', account: 'default', chat_id: '-7' };
const MESSAGE = '{"text":"Grüße, 你好 🦜"}';

/** At least one row for each table that a backup holds, in an order that foreign keys allow. */
const ROWS: readonly FilledRow[] = [
  ...['c1', 'c2'].map((id) => ({
    table: 'conversation',
    row: { id, epoch: 7, session: 2, lease_owner: 'worker-1', lease_until: 900, created_at: 1 },
  })),
  {
    table: 'turn',
    row: {
      ...{ id: 't1', conversation_id: 'c1', session: 2, state: 'answered', attempts: 1 },
      ...{
        model: 'double',
        input_tokens: 12,
        output_tokens: 3,
        cost_usd: 0.000_125,
        started_at: 2,
      },
    },
  },
  {
    table: 'turn',
    row: {
      ...{ id: 't2', conversation_id: 'c2', session: 2, state: 'running', attempts: 1 },
      started_at: 1_763_700_000_001,
    },
  },
  {
    table: 'turn_step',
    row: { turn_id: 't2', step_index: 0, content: '{}', created_at: 3 },
  },
  ...[
    ['m1', 'c1', 'done', 't1', 'answered'],
    ['m2', 'c2', 'claimed', 't2', null],
    ['m3', 'c2', 'waiting', null, null],
  ].map(([message_id, conversation_id, state, turn_id, outcome]) => ({
    table: 'inbox',
    row: {
      ...{ ...CHAT, message_id: message_id ?? null, conversation_id: conversation_id ?? null },
      ...{ message: MESSAGE, route: '{}', received_at: 4, state: state ?? null },
      ...{ turn_id: turn_id ?? null, outcome: outcome ?? null },
    },
  })),
  {
    table: 'transcript',
    row: {
      ...{ conversation_id: 'c1', session: 2, turn_id: 't1', role: 'user', content: MESSAGE },
      created_at: 5,
    },
  },
  ...['sent', 'pending', 'sending', 'failed', 'sent'].map((state, index) => ({
    table: 'outbox',
    row: {
      ...{ id: `p${index}`, idempotency_key: `k${index}`, turn_id: 't1', part_index: index },
      ...{ notice_of: index === 4 ? 'p3' : null, ...CHAT, route: '{}', body: MESSAGE, state },
      ...{ attempts: 1, not_before: 0, error: null, created_at: 6, updated_at: 6 },
    },
  })),
  { table: 'dead_letter', row: { kind: 'refused', subject: 'p3', died_at: 6 } },
  {
    table: 'adapter_value',
    row: { channel: 'whatsapp', account: 'default', kind: 'creds', id: 'creds', value: 'secret' },
  },
  {
    table: 'group_context',
    row: {
      ...{ conversation_id: 'c1', ...CHAT, message_id: 'm4', sender_id: '9', sender_name: 'Bo' },
      ...{ text: 'O\'Hara said "no"\nand\tleft', heard_at: 7, turn_id: 't2' },
    },
  },
  {
    table: 'attachment',
    row: {
      ...{ inbox_seq: 1, attachment_index: 0, channel: 'telegram', account: 'default' },
      ...{
        kind: 'image',
        name: 'a.png',
        mime_type: 'image/png',
        size: 4,
        ref: 'r',
        state: 'ready',
      },
      ...{ not_before: 0, created_at: 8, updated_at: 8, bytes: Uint8Array.of(0, 255, 10, 92) },
    },
  },
  {
    table: 'pairing_request',
    row: {
      ...{ code: 'ABCD2345', channel: 'telegram', account: 'default', sender_id: '9' },
      ...{ sender_name: 'Bo', route: '{}', expires_at: 9 },
    },
  },
  {
    table: 'allowed_sender',
    row: { channel: 'telegram', account: 'default', sender_id: '8', allowed_at: 9 },
  },
  {
    table: 'seen_group',
    row: { ...CHAT, title: 'Grüße 🦜', seen_at: 10 },
  },
  {
    table: 'account_pause',
    row: { channel: 'telegram', account: 'default', paused_by: 'the console', since: 11 },
  },
  {
    table: 'decision',
    row: {
      ...{ ...CHAT, message_id: 'm5', sender_id: '9', outcome: 'refused', reason: 'stranger' },
      decided_at: 10,
    },
  },
  {
    table: 'person_link',
    row: { person_id: 'telegram:8', link_id: 'l1', by_owner: 1, linked_at: 11 },
  },
  {
    table: 'link_code',
    row: {
      ...{ code: 'LINK2345', maker_id: 'telegram:8', maker_route: '{}', maker_is_owner: 1 },
      expires_at: 12,
    },
  },
  {
    table: 'session_pin',
    row: {
      conversation_id: 'c1',
      ...{ session: 2, pin_key: 'skills', content: '[]', pinned_at: 13 },
    },
  },
  {
    table: 'prompt_text',
    row: { hash: 'h1', content: '"You are Parley."', used_at: 14 },
  },
  {
    table: 'turn_prompt',
    row: {
      ...{ turn_id: 't1', conversation_id: 'c1', chat_id: '-7', created_at: 15, layout: 'parley' },
      ...{ model: 'double', characters: 16, tokens: 4, place: '{}', message_ids: '["m1"]' },
      ...{ parts: '["h1"]', unsent: '[]', tools: '[]', messages: '[]' },
    },
  },
  {
    table: 'memory_entry',
    row: {
      ...{ file: 'MEMORY.md', id: 'e1', type: 'fact', scope: 'user', person: 'telegram:8' },
      ...{ words: 'tea', uses: 3 },
    },
  },
  {
    table: 'summary',
    row: {
      ...{ conversation_id: 'c1', session: 2, reader: 'owner', kind: 'day', mark: '2026-11-21' },
      ...{ content: '{}', claimed_until: 0, created_at: 16 },
    },
  },
  {
    table: 'approval',
    row: {
      ...{ code: 'YES2', conversation_id: 'c2', turn_id: 't2', call_key: 'x', tool: 'exec' },
      ...{ shown: 'ls', asked_by: '8', place: '{}', approvers: 'telegram:8', state: 'pending' },
      ...{ asked_at: 17, expires_at: 18, asked_in: 'c2' },
    },
  },
  {
    table: 'sub_agent',
    row: {
      ...{ id: 's1', call_id: 'x1', conversation_id: 'c2', parent_conversation: 'c1' },
      ...{ root_conversation: 'c1', parent_turn: 't1', depth: 1, title: 'look', task: 'look' },
      ...{ reader: 'owner', origin: '{}', route: '{}', from_owner: 1, state: 'running' },
      started_at: 19,
    },
  },
  {
    table: 'spend',
    row: {
      ...{ day: '2026-11-21', person_id: 'telegram:8', group_id: '', input_tokens: 12 },
      ...{ output_tokens: 3, cost_usd: 0.000_125, agent: 'support' },
    },
  },
  {
    table: 'todo_list',
    row: { conversation_id: 'c1', session: 2, content: '[]', written_at: 20 },
  },
  {
    table: 'heartbeat',
    row: { agent: 'main', every_ms: 1_800_000, next_at: 21 },
  },
  ...['running', 'held'].map((state) => ({
    table: 'heartbeat_run',
    row: {
      ...{ id: `b-${state}`, agent: 'main', task: 'mail', target: 'c1', state },
      ...{ held_until: state === 'held' ? 30 : null, started_at: 22 },
    },
  })),
  ...[1, 2_000_000_000_000].map((next_at) => ({
    table: 'cron_job',
    row: {
      ...{ id: `j${next_at}`, asked_by: `a${next_at}`, conversation_id: 'c1', origin: '{}' },
      ...{ route: '{}', from_owner: 1, title: 'tea', task: 'say tea' },
      timetable: `{"kind":"once","at":${next_at}}`,
      ...{ state: 'on', next_at, created_at: 23 },
    },
  })),
  { table: 'soul', row: { agent: 'main', next_number: 1 } },
  {
    table: 'soul_version',
    row: {
      ...{ agent: 'main', number: 0, asked_by: 'seed', text: '# Soul', head: 'h', author: 'human' },
      ...{ reason: 'first', diff: '', state: 'applied', created_at: 24 },
    },
  },
];

/** Fills the tables of a new database. */
export async function fillTables(database: Database): Promise<void> {
  await database.write(async (sql) => {
    for (const { table, row } of ROWS) {
      const names = Object.keys(row);
      const values = names.map((name) => `:${name}`);
      const insert = `insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`;
      await sql.run(composed(insert), row);
    }
  });
}

/** The rows of the tables that `fillTables` fills, with the columns it gives, by table. */
export async function filledRows(
  database: Database,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const { table, row } of ROWS) {
    const query = composed(`select ${Object.keys(row).join(', ')} from ${table}`).rows<object>();
    const rows = await database.read((sql) => sql.all(query));
    const texts = rows.map((values) => JSON.stringify(values, readable));
    found[table] = texts.toSorted();
  }
  return found;
}

/** Bytes are of another class on each of the two databases; one of them is written as `{ type, data }`. */
function readable(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  return typeof value === 'object' && value !== null && 'data' in value ? value.data : value;
}
