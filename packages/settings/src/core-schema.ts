import { BusyPolicy } from '@parley/contracts';
import { z } from 'zod';
import { Approvals } from './approvals-schema.ts';
import { Cron } from './cron-schema.ts';
import { Exec } from './exec-schema.ts';
import { Heartbeat } from './heartbeat-schema.ts';
import { Mcp } from './mcp-schema.ts';
import { Queue } from './queue-schema.ts';
import { Soul } from './soul-schema.ts';
import { Spend } from './spend-schema.ts';
import { Telemetry } from './telemetry-schema.ts';
import { Tools } from './tools-schema.ts';
import { Web } from './web-schema.ts';

/** `telegram:123`: the channel and that platform's user id. */
const Owner = z
  .string({ error: 'channel:userId without a space, such as telegram:123456789' })
  .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:userId, such as telegram:123456789')
  .describe('A person the bot belongs to: channel:userId.');

/** The name of a file that an operator wrote, without folder and ending. */
const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, 'letters, digits, _ and -, at most 64');

const Identity = z
  .strictObject({
    name: z.string().min(1).max(80).optional(),
    role: z.string().min(1).max(200).optional(),
    emoji: z.string().min(1).max(16).optional(),
  })
  .prefault({})
  .describe('What every agent is called; stands above the agent’s own settings and IDENTITY.md.');

const Skills = z
  .strictObject({
    extra: z.array(z.string().min(1)).default([]).describe('More folders with skills.'),
    allow: z.array(z.string().min(1)).optional().describe('Only these; without it all.'),
    block: z.array(z.string().min(1)).default([]).describe('Never these, even if allowed.'),
    show: z
      .enum(['outline', 'inline'])
      .default('outline')
      .describe('outline: name and description in the prompt; inline: the whole text.'),
    max: z.int().min(0).max(1_000).default(150).describe('Skills in the prompt.'),
    maxCharacters: z
      .int()
      .min(0)
      .max(200_000)
      .default(30_000)
      .describe('The list of skills in the prompt, in characters.'),
    maxFileBytes: z.int().min(1_000).default(256_000).describe('Larger SKILL.md are skipped.'),
  })
  .prefault({})
  .describe('Folders with instructions that the agent reads when a task calls for them.');

const Plugin = z
  .union([
    z.string().min(1),
    z.strictObject({
      use: z.string().min(1).describe('A folder, or the name of an installed package.'),
      options: z.record(z.string(), z.unknown()).default({}).describe('For the plugin itself.'),
    }),
  ])
  .transform((plugin) => (typeof plugin === 'string' ? { use: plugin, options: {} } : plugin));

const TimeZone = z
  .string()
  .refine(isTimeZone, 'a time zone by its IANA name, such as Europe/Berlin or UTC')
  .describe('IANA time zone of the agent; without it that of the machine.');

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false; // Intl says "unknown zone" by throwing, and has no other way to ask.
  }
}

const Agent = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'lower-case letters, digits and hyphens, at most 32')
      .default('main')
      .describe('Names the agent in files and logs.'),
    name: z.string().min(1).max(80).optional().describe('What the agent is called in its chats.'),
    role: z.string().min(1).max(200).optional().describe('What it is, in a few words.'),
    emoji: z.string().min(1).max(16).optional().describe('A sign beside its name.'),
    timeZone: TimeZone.optional(),
    workspace: z
      .string()
      .min(1)
      .optional()
      .describe('Folder of its Markdown files; without it `workspace` in the data folder.'),
    profile: Name.optional().describe(
      'A file of the folder `profiles`, without its ending: layout, persona, skills, tools and more in one.',
    ),
    layout: z
      .string()
      .min(1)
      .optional()
      .describe('How the prompt is laid out; without it as the profile says, or parley.'),
    persona: Name.optional().describe('Who it plays: a file of the folder `personas`.'),
    format: Name.optional().describe(
      'How answers are shaped: plain, emotion_pipe, emotion_bracket, or a file of the folder `output-formats`.',
    ),
    memory: z
      .enum(['main-session', 'off'])
      .optional()
      .describe(
        'main-session: MEMORY.md and memory/ are there in direct chats with an owner. off: nowhere.',
      ),
    skipContextFiles: z
      .boolean()
      .optional()
      .describe('true: AGENTS.md, SOUL.md and the like stay out of the prompt.'),
    ephemeral: z
      .string()
      .min(1)
      .max(8_000)
      .optional()
      .describe('Stands at the end of every prompt and is never remembered.'),
  })
  .prefault({})
  .describe('The agent that answers.');

const Lanes = z
  .strictObject({
    busy: BusyPolicy.default('collect').describe(
      'Messages during a turn. collect: answered together afterwards; followup: one by one; steer: join the running turn at its next step; interrupt: end it and are answered with what it was about. Or one of these per kind of chat: { direct: steer, group: collect }.',
    ),
    collectPauseMs: z
      .int()
      .min(0)
      .max(60_000)
      .default(500)
      .describe('How long to wait for more of a burst, in milliseconds.'),
    concurrency: z
      .int()
      .min(1)
      .max(2_000)
      .default(200)
      .describe(
        'Turns that one worker runs at the same time, each of another conversation; they mostly wait for models.',
      ),
  })
  .prefault({})
  .describe('What happens when messages arrive faster than answers.');

const Limits = z
  .strictObject({
    messageCharacters: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(32_000)
      .describe('Longest message that is taken, in characters.'),
    turnSteps: z
      .int()
      .min(1)
      .max(200)
      .default(20)
      .describe('How often the model is asked in one turn; the last time it has to answer.'),
    turnMinutes: z
      .number()
      .positive()
      .max(60)
      .default(10)
      .describe('After this the model is asked for its answer once more.'),
    turnTokens: z
      .int()
      .positive()
      .default(1_000_000)
      .describe('The same, of all steps of a turn together.'),
    waitingPerConversation: z
      .int()
      .min(1)
      .max(10_000)
      .default(50)
      .describe('Messages that may wait in one conversation.'),
    waitingInAll: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(50_000)
      .describe('Messages that may wait in all conversations together.'),
  })
  .prefault({})
  .describe('Bounds; what exceeds them is refused and told.');

const Transcription = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:8000/v1' })
      .describe('Of a service that speaks OpenAI’s protocol; usually ends in /v1.'),
    apiKey: z.string().min(1).optional(),
    model: z.string().min(1).describe('Such as whisper-1.'),
  })
  .describe('The service that turns voice messages into text; without it they are not understood.');

const Media = z
  .strictObject({
    maxFileMb: z
      .number()
      .positive()
      .max(100)
      .default(20)
      .describe('Largest file that is taken from a message, in megabytes.'),
    maxMessageMb: z
      .number()
      .positive()
      .max(200)
      .default(50)
      .describe('All files of one message together, in megabytes.'),
    maxKeptMb: z
      .number()
      .min(200)
      .default(2_000)
      .describe('All files that are kept at a time, for a day at most, in megabytes.'),
    maxCharacters: z
      .int()
      .min(1_000)
      .max(1_000_000)
      .default(30_000)
      .describe('What the model is shown of the documents of one turn, in characters.'),
    transcription: Transcription.optional(),
  })
  .prefault({})
  .describe('Pictures, voice messages and documents that people send.');

const Inspector = z
  .strictObject({
    keepDays: z
      .number()
      .min(0)
      .max(365)
      .default(7)
      .describe('How long prompts are kept for "parley prompt" and the page; 0: not at all.'),
  })
  .prefault({})
  .describe('What the model was told, turn by turn.');

const Http = z
  .strictObject({
    host: z.string().min(1).default('127.0.0.1').describe('127.0.0.1: this machine only.'),
    port: z.int().min(0).max(65_535).default(7411).describe('0 takes any free port.'),
    token: z
      .string()
      .min(
        32,
        'at least 32 characters: let "openssl rand -hex 24" make it, and refer to a variable with it',
      )
      .optional()
      .describe(
        'The secret of the web page; the same for all gateways. Without it each data folder has its own.',
      ),
  })
  .prefault({})
  .describe('Where the web page, health and metrics are served.');

const Log = z
  .strictObject({
    level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    format: z
      .enum(['auto', 'pretty', 'json'])
      .default('auto')
      .describe('auto: pretty in a terminal, JSON elsewhere.'),
  })
  .prefault({})
  .describe('Structured logs.');

const Store = z
  .strictObject({
    url: z
      .url({
        protocol: /^postgres(ql)?$/,
        error: 'a PostgreSQL URL, such as postgres://user@host/parley',
      })
      .optional()
      .describe('PostgreSQL; without it the embedded SQLite file.'),
  })
  .prefault({})
  .describe('Where messages are kept.');

/** Every setting that is neither a model's nor a channel's. All have defaults. */
export const CoreSettings = z.strictObject({
  version: z
    .int()
    .min(1)
    .default(1)
    .describe('Of this file; Parley writes it, and "parley config upgrade" changes it.'),
  identity: Identity,
  agent: Agent,
  skills: Skills,
  tools: Tools,
  approvals: Approvals,
  mcp: Mcp,
  exec: Exec,
  web: Web,
  plugins: z
    .array(Plugin)
    .default([])
    .describe('More tools, skills, prompt layers, hooks and channels.'),
  owners: z.array(Owner).default([]).describe('The people the bot belongs to.'),
  heartbeat: Heartbeat,
  cron: Cron,
  soul: Soul,
  lanes: Lanes,
  limits: Limits,
  spend: Spend,
  media: Media,
  inspector: Inspector,
  http: Http,
  log: Log,
  telemetry: Telemetry,
  queue: Queue,
  store: Store,
});
export type CoreSettings = z.infer<typeof CoreSettings>;
