import {
  type AskCron,
  type CronRequest,
  type CronRequester,
  type InboundMessage,
  isPlaceholder,
} from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';
import {
  createFailedOutcome,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts';

/** A non-empty text; models fill fields that they do not need with "" or "none". */
function createOptionalText(max: number) {
  const hint = 'leave it out where it is not needed';
  return z
    .string()
    .max(max)
    .refine((text) => !isPlaceholder(text), hint);
}

/** Returns the current time; the prompt contains only the time at which the turn started. */
export const currentTimeTool: Tool = defineTool({
  name: 'current_time',
  summary: 'Tells the date and time, here or in another time zone.',
  tier: 'middleware',
  effect: 'read',
  repeats: true,
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    timeZone: createOptionalText(60).optional().describe('IANA name. Default: yours.'),
  }),
  async run({ timeZone }, { clock, facts }) {
    const zone = timeZone ?? facts.timeZone;
    const face = createTimeFormat(zone);
    if (face === null) {
      return createFailedOutcome(
        `"${zone}" is not a time zone. Use an IANA name, such as Asia/Tokyo.`,
      );
    }
    return { text: `It is ${face.format(clock())} (${zone}).` };
  },
});

function createTimeFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone });
  } catch {
    return null; // Intl reports an unknown time zone only by throwing.
  }
}

const HINT =
  'Not for what can be done now. Write the task so that it can be done without this conversation, and tell the person when it will run.';

/** How many messages in a chat are searched for the message being answered. */
const RECENT = 200;

const CronInput = z.object({
  action: z.enum(['add', 'list', 'change', 'pause', 'resume', 'remove']),
  id: createOptionalText(40).optional().describe('Id of a listed job; not for add.'),
  title: createOptionalText(200).optional().describe('A few words.'),
  task: createOptionalText(8_000).optional().describe('What to do then.'),
  at: createOptionalText(60)
    .optional()
    .describe('Once: local time, `2026-11-22 09:00`, or `in 20 min`.'),
  every: createOptionalText(60)
    .optional()
    .describe('Repeatedly: `30 min`, `2 h`, `daily at 8:00`.'),
  cron: createOptionalText(120).optional().describe('Repeatedly: five fields, `0 9 * * mon-fri`.'),
  timeZone: createOptionalText(60)
    .optional()
    .describe('IANA name, if not that of the Runtime Facts.'),
  format: z
    .string()
    .max(32_000)
    .refine((text) => text === 'none' || !isPlaceholder(text))
    .optional()
    .describe('Only if a program reads the answers: `json`, or their JSON Schema; `none`: text.'),
});

/** Schedules jobs for the chat in which a person asks (H08). */
export function createCronTool({
  store,
  ask,
}: {
  readonly store: Pick<Store, 'inbox'>;
  readonly ask: AskCron;
}): Tool {
  return defineTool({
    name: 'cron',
    summary: 'Schedules reminders and jobs in this chat, once or repeatedly.',
    hint: HINT,
    tier: 'middleware',
    group: 'schedule',
    effect: 'external',
    actsOnce: true,
    audience: 'everyone',
    approval: 'ask-after-untrusted-text',
    asksAbout: '`cron` that adds or changes a job',
    spares: ({ action }) => action !== 'add' && action !== 'change',
    input: CronInput,
    async run(input, call): Promise<ToolOutcome> {
      // Jobs must not create jobs; only a person may request one.
      const message = call.messages?.findLast(({ trigger }) => trigger === undefined);
      if (message === undefined && input.action !== 'list') return createFailedOutcome(NO_ASKER);
      const by = message ?? call.messages?.at(-1);
      if (by === undefined) return createFailedOutcome(NO_ASKER);
      const asker: CronRequester = { kind: 'chat', message: by, reader: call.reader };
      const order = await toCronOrder(store, input, by, call);
      if (typeof order === 'string') return createFailedOutcome(order);
      const { ok, text } = await ask(order, asker);
      return ok ? { text } : createFailedOutcome(text);
    },
  });
}

const NO_ASKER =
  'Not done: only what a person has just written can add or change jobs, not a job, a standing task or a sub-agent.';

async function toCronOrder(
  store: Pick<Store, 'inbox'>,
  { action, id, ...fields }: z.infer<typeof CronInput>,
  message: InboundMessage,
  call: ToolCall,
): Promise<CronRequest | string> {
  if (action === 'list') return { action };
  if (action !== 'add') {
    if (id === undefined) return `Say with \`id\` which job you mean; \`list\` shows them.`;
    return action === 'change' ? { action, id, fields } : { action, id };
  }
  const { channel, account, chat } = message;
  const rows = await store.inbox.recent({ channel, account, chatId: chat.id }, RECENT);
  const row = rows.findLast((one) => one.message.messageId === message.messageId);
  if (row === undefined) return 'Not added: the message that asked for it no longer exists.';
  return { action, askedBy: `call:${call.callId}`, origin: message, route: row.route, fields };
}
