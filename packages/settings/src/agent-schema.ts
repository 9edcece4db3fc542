import { ContextSwitches, LAYOUT_NAMES, ResponseFormat } from '@parley/core';
import { z } from 'zod';
import { defineChoice, defineSection, flag, numberField, wholeNumber } from './fields.ts';

/** A file name set by an operator, without folder and extension. */
const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, 'letters, digits, _ and -, at most 64');

const TimeZone = z
  .string()
  .refine(isTimeZone, 'a time zone by its IANA name, such as Europe/Berlin or UTC')
  .describe("The agent's IANA time zone. Default: the machine's time zone.");

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false; // Intl reports an unknown time zone only by throwing.
  }
}

/** The name of an agent in files, logs and conversation ids. */
export const AgentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'lower-case letters, digits and hyphens, at most 32');

const PromptFiles = defineSection('How much of the workspace files a prompt contains.', {
  fileCharacters: z
    .int()
    .min(200)
    .max(1_000_000)
    .optional()
    .describe(
      'Maximum number of characters from one file; a longer file is truncated with a notice. Default: 4,000 in mushroom, 65,536 in neomagi, otherwise 20,000.',
    ),
  totalFileCharacters: z
    .int()
    .min(200)
    .max(10_000_000)
    .optional()
    .describe(
      'Maximum number of characters from all files together, in layouts that show them in one layer (mushroom, openclaw). Default: 12,000 in mushroom.',
    ),
  dailyNotes: wholeNumber(
    { min: 0, max: 31, default: 2 },
    'Number of daily notes (memory/YYYY-MM-DD.md) up to today: 2 shows those of today and yesterday, 0 none.',
  ),
});

/** `agent`: the default agent, its workspace and its prompt. */
export const Agent = defineSection('The agent that answers.', {
  id: AgentName.default('main').describe('Identifies the agent in files and logs.'),
  name: z.string().min(1).max(80).optional().describe("The agent's name in its chats."),
  role: z.string().min(1).max(200).optional().describe("The agent's role, in a few words."),
  emoji: z.string().min(1).max(16).optional().describe("An emoji shown beside the agent's name."),
  timeZone: TimeZone.optional(),
  clockMinutes: wholeNumber(
    { min: 1, max: 60, default: 10 },
    'In the mushroom and zeus layouts, the time in the system prompt is rounded down to a multiple of this many minutes, so that providers can cache what follows it. The exact time is sent with the message.',
  ),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe("Folder of the agent's Markdown files. Default: `workspace` in the data folder."),
  profile: Name.optional().describe(
    'Name of a file in the `profiles` folder, without extension: it sets layout, persona, skills, tools and more together.',
  ),
  layout: z
    .enum(LAYOUT_NAMES)
    .optional()
    .describe("Prompt layout. Default: the profile's layout, or parley."),
  persona: Name.optional().describe("The agent's persona: a file in the `personas` folder."),
  format: Name.optional().describe(
    'Format of answers: plain, emotion_pipe, emotion_bracket, or a file in the `output-formats` folder.',
  ),
  responseFormat: ResponseFormat.optional().describe(
    'Answers for programs: json, or a JSON Schema that each answer must match.',
  ),
  memory: z
    .enum(['main-session', 'off'])
    .optional()
    .describe(
      'main-session: MEMORY.md and memory/ are available in direct chats with an owner. off: they are never available.',
    ),
  skipContextFiles: z
    .boolean()
    .optional()
    .describe('true: leaves AGENTS.md, SOUL.md and similar files out of the prompt.'),
  context: ContextSwitches.optional().describe(
    'Prompt blocks about the turn. false leaves a block out; true includes it even if the layout does not (the diary in lab).',
  ),
  ephemeral: z
    .string()
    .min(1)
    .max(8_000)
    .optional()
    .describe('Text added at the end of every prompt and never remembered.'),
  prompt: PromptFiles,
  delegates: z
    .array(AgentName)
    .default([])
    .describe(
      'Other agents in `agents` to which this agent may delegate a task; it receives only their results.',
    ),
});

/** The options of one skill, under the same keys as in OpenClaw. */
const SkillEntry = z.strictObject({
  show: z
    .enum(['outline', 'inline'])
    .optional()
    .describe("Overrides `skills.show` and the skill's own choice."),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Used as the value of the variable that the skill names as its `primaryEnv`.'),
});

/** `skills`: the available skills and how the prompt shows them. */
export const Skills = defineSection(
  'Folders with instructions that the agent reads when a task needs them.',
  {
    extra: z.array(z.string().min(1)).default([]).describe('Additional folders with skills.'),
    allow: z
      .array(z.string().min(1))
      .optional()
      .describe('Only these skills, and those with `always: true`. Default: all skills.'),
    block: z
      .array(z.string().min(1))
      .default([])
      .describe('Skills that are never used, even if allowed.'),
    show: defineChoice(
      ['outline', 'inline'],
      'outline: the prompt contains name and description; inline: it contains the whole text.',
    ),
    entries: z
      .record(z.string().min(1), SkillEntry)
      .default({})
      .describe('Options for individual skills, by name.'),
    max: wholeNumber(
      { min: 0, max: 1_000, default: 150 },
      'Maximum number of skills in the prompt.',
    ),
    maxCharacters: wholeNumber(
      { min: 0, max: 200_000, default: 30_000 },
      'Maximum length of the list of skills in the prompt, in characters.',
    ),
    maxFileBytes: wholeNumber(
      { min: 1_000, default: 256_000 },
      'SKILL.md files larger than this are skipped.',
    ),
  },
);

/** `soul`: proposals for changes to SOUL.md, their evaluation, and who decides (W06). */
export const Soul = defineSection("The agent's character (SOUL.md), and how it may change.", {
  apply: defineChoice(
    ['after-veto-time', 'ask', 'never'],
    'When a proposal that passed its evaluation takes effect: vetoHours later unless an owner vetoes it, when an owner sends /soul apply, or never.',
  ),
  vetoHours: numberField(
    { min: 0, max: 24 * 30, default: 24 },
    'How long an owner can veto a proposal before it takes effect automatically.',
  ),
  humanEdits: defineChoice(
    ['until-first-proposal', 'propose', 'seed-only'],
    "What happens when a person writes a new text although SOUL.md already exists. propose: the text becomes a proposal and is evaluated like the agent's own. seed-only: it is refused but kept for copying; only the agent proposes. until-first-proposal: like propose until the agent's first proposal has been applied, then like seed-only.",
  ),
  judge: z
    .union([z.boolean(), z.string().min(1)])
    .default('auto')
    .describe(
      'true: the model tests each new text in several situations and judges its answers; the name of a model: that model of the same provider judges. false: only fixed rules apply. auto: true if the settings name a model.',
    ),
});

const TIME = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d`;

/** `heartbeat`: when the agent runs its standing tasks, and how it reports them (H01–H05). */
export const Heartbeat = defineSection(
  'Standing tasks in HEARTBEAT.md that run between messages.',
  {
    enabled: flag(
      true,
      'false: standing tasks never run. Without tasks in HEARTBEAT.md, the model is not called in any case.',
    ),
    everyMinutes: wholeNumber(
      { min: 5, max: 24 * 60, default: 30 },
      'Interval for checking which tasks are due, at least 5.',
    ),
    notify: z
      .string()
      .regex(/^(last|[a-z][a-z0-9-]*:\S+)$/, 'last, or an owner such as telegram:123456789')
      .default('last')
      .describe(
        "Where alerts are sent: an owner's direct chat (channel:userId), or last for the direct chat in which an owner wrote most recently.",
      ),
    quietHours: z
      .string()
      .regex(new RegExp(`^(off|${TIME}-${TIME})$`), 'off, or from-to such as 22:00-07:00')
      .default('22:00-07:00')
      .describe("Alerts wait until these hours are over, in the agent's time zone."),
    repeatHours: numberField(
      { min: 0, max: 24 * 30, default: 24 },
      'The same alert is not sent again within this many hours.',
    ),
    tokensPerDay: wholeNumber(
      { above: 0, default: 250_000 },
      'Maximum tokens for all runs in a day; any remaining runs wait.',
    ),
    steps: wholeNumber(
      { min: 1, max: 50, default: 10 },
      'Maximum number of model calls in one run.',
    ),
    quietMaxCharacters: wholeNumber(
      { min: 0, max: 4_000, default: 300 },
      'An answer counts as quiet if the text beside HEARTBEAT_OK is not longer than this.',
    ),
    memoryUpkeepDays: wholeNumber(
      { min: 1, max: 60, default: 7 },
      'Number of daily notes that the upkeep of MEMORY.md reads.',
    ),
    memoryTokens: wholeNumber(
      { min: 200, max: 100_000, default: 4_000 },
      'The upkeep trims MEMORY.md if it is longer than this, in tokens.',
    ),
  },
);
export type Heartbeat = z.infer<typeof Heartbeat>;

/** `cron`: scheduled jobs that people request in their chats (H08). */
export const Cron = defineSection(
  'Jobs that run once, at a fixed interval or by a cron expression.',
  {
    who: defineChoice(
      ['owners', 'everyone'],
      'Who may schedule jobs: owners in any chat, or everyone who may write in the chat.',
    ),
    minMinutes: wholeNumber(
      { min: 1, max: 24 * 60, default: 5 },
      'The minimum interval between two runs of a job.',
    ),
    perConversation: wholeNumber(
      { min: 1, max: 1_000, default: 20 },
      'Maximum number of jobs per conversation.',
    ),
    total: wholeNumber({ min: 1, max: 10_000, default: 200 }, 'Jobs in all.'),
  },
);

const SERVICE = {
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:8000/v1' })
    .describe('Base URL of a service with an OpenAI-compatible API; usually ends in /v1.'),
  apiKey: z.string().min(1).optional().describe('API key, if the service needs one.'),
};

const Transcription = z
  .strictObject({ ...SERVICE, model: z.string().min(1).describe('Such as whisper-1.') })
  .describe(
    'The service that transcribes voice messages. Without it, the agent cannot understand them.',
  );

const Speech = z
  .strictObject({
    ...SERVICE,
    model: z.string().min(1).describe('Such as tts-1.'),
    voice: z.string().min(1).default('alloy').describe('A voice that the service offers.'),
    format: defineChoice(
      ['opus', 'mp3', 'flac', 'wav'],
      'Audio format of the recordings; Telegram and WhatsApp play Opus as voice notes.',
    ),
    maxCharacters: wholeNumber(
      { min: 100, max: 4_096, default: 1_500 },
      'Maximum length of text that is spoken; if a text is longer, only its beginning is spoken.',
    ),
    when: defineChoice(
      ['voice', 'never', 'always'],
      'Which answers are also spoken: answers to voice messages, none, or all.',
    ),
  })
  .describe('The service that converts answers to speech. Without it, answers are text only.');

/** `media`: which files in messages are accepted, and how long they are kept. */
export const Media = defineSection('Pictures, voice messages and documents that people send.', {
  maxFileMb: numberField(
    { above: 0, max: 100, default: 20 },
    'Maximum size of a file accepted from a message, in megabytes.',
  ),
  maxMessageMb: numberField(
    { above: 0, max: 200, default: 50 },
    'Maximum size of all files in one message together, in megabytes.',
  ),
  maxKeptMb: numberField(
    { min: 200, default: 2_000 },
    'Maximum size of all files stored at a time, for at most a day, in megabytes.',
  ),
  maxPersonMb: numberField(
    { min: 1, default: 200 },
    "Maximum size of one person's stored files, in megabytes; must allow at least one message. This limit does not apply to owners in their direct chats.",
  ),
  maxPersonFiles: wholeNumber(
    { min: 32, max: 10_000, default: 200 },
    'Maximum number of stored files per person.',
  ),
  maxCharacters: wholeNumber(
    { min: 1_000, max: 1_000_000, default: 30_000 },
    'Maximum number of characters from all documents in a turn that the model is shown.',
  ),
  // Anthropic scales larger pictures down, which costs time
  // (https://docs.anthropic.com/en/docs/vision).
  maxImageDimension: wholeNumber(
    { min: 512, max: 4_096, default: 1_568 },
    'Maximum side length of a picture that the model is shown, in pixels; larger pictures are scaled down.',
  ),
  transcription: Transcription.optional(),
  speech: Speech.optional(),
});
