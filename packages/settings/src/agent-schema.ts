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
  .describe('IANA time zone of the agent; without it that of the machine.');

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

const PromptFiles = defineSection('How much of the workspace files a prompt holds.', {
  fileCharacters: z
    .int()
    .min(200)
    .max(1_000_000)
    .optional()
    .describe(
      'Characters of one file; a longer one is cut and says so. Without it as the layout has it: 4,000 in mushroom, 65,536 in neomagi, else 20,000.',
    ),
  totalFileCharacters: z
    .int()
    .min(200)
    .max(10_000_000)
    .optional()
    .describe(
      'Characters of all files together where a layout shows them in one layer (mushroom, openclaw). Without it 12,000 in mushroom.',
    ),
  dailyNotes: wholeNumber(
    { min: 0, max: 31, default: 2 },
    'Daily notes (memory/YYYY-MM-DD.md) up to today: 2 are those of today and yesterday; 0: none.',
  ),
});

/** `agent`: who answers, from where and how. */
export const Agent = defineSection('The agent that answers.', {
  id: AgentName.default('main').describe('Names the agent in files and logs.'),
  name: z.string().min(1).max(80).optional().describe('What the agent is called in its chats.'),
  role: z.string().min(1).max(200).optional().describe('What it is, in a few words.'),
  emoji: z.string().min(1).max(16).optional().describe('A sign beside its name.'),
  timeZone: TimeZone.optional(),
  clockMinutes: wholeNumber(
    { min: 1, max: 60, default: 10 },
    'Layouts mushroom and zeus: the time in the system prompt is rounded down to so many minutes, so that providers can reuse what follows it. The exact time is with the message.',
  ),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of its Markdown files; without it `workspace` in the data folder.'),
  profile: Name.optional().describe(
    'A file of the folder `profiles`, without its ending: layout, persona, skills, tools and more in one.',
  ),
  layout: z
    .enum(LAYOUT_NAMES)
    .optional()
    .describe('How the prompt is laid out; without it as the profile says, or parley.'),
  persona: Name.optional().describe('Who it plays: a file of the folder `personas`.'),
  format: Name.optional().describe(
    'How answers are shaped: plain, emotion_pipe, emotion_bracket, or a file of the folder `output-formats`.',
  ),
  responseFormat: ResponseFormat.optional().describe(
    'For an agent that programs talk to: json, or a JSON Schema that each answer must fit.',
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
  context: ContextSwitches.optional().describe(
    'Blocks of the prompt about the turn. false: this one stays out; true: it is in also where the layout leaves it out (the diary in lab).',
  ),
  ephemeral: z
    .string()
    .min(1)
    .max(8_000)
    .optional()
    .describe('Added at the end of every prompt and never remembered.'),
  prompt: PromptFiles,
  delegates: z
    .array(AgentName)
    .default([])
    .describe('Other agents of `agents` that it may give a task to; it gets their results alone.'),
});

/** The options of one skill, under the same keys as in OpenClaw. */
const SkillEntry = z.strictObject({
  show: z
    .enum(['outline', 'inline'])
    .optional()
    .describe('In place of `skills.show` and of what the skill itself says.'),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Counts as the variable that the skill names as its `primaryEnv`.'),
});

/** `skills`: the available skills and how the prompt shows them. */
export const Skills = defineSection(
  'Folders with instructions that the agent reads when a task calls for them.',
  {
    extra: z.array(z.string().min(1)).default([]).describe('More folders with skills.'),
    allow: z
      .array(z.string().min(1))
      .optional()
      .describe('Only these, and skills that say `always: true`; without it all.'),
    block: z.array(z.string().min(1)).default([]).describe('Never these, even if allowed.'),
    show: defineChoice(
      ['outline', 'inline'],
      'outline: name and description in the prompt; inline: the whole text.',
    ),
    entries: z
      .record(z.string().min(1), SkillEntry)
      .default({})
      .describe('What holds for one skill, by its name.'),
    max: wholeNumber({ min: 0, max: 1_000, default: 150 }, 'Skills in the prompt.'),
    maxCharacters: wholeNumber(
      { min: 0, max: 200_000, default: 30_000 },
      'The list of skills in the prompt, in characters.',
    ),
    maxFileBytes: wholeNumber({ min: 1_000, default: 256_000 }, 'Larger SKILL.md are skipped.'),
  },
);

/** `soul`: proposals for changes to SOUL.md, their evaluation, and who decides (W06). */
export const Soul = defineSection('Who the agent is (SOUL.md), and how that may change.', {
  apply: defineChoice(
    ['after-veto-time', 'ask', 'never'],
    'When a proposal that passed its evaluation comes into use: vetoHours later unless an owner vetoes it, when an owner says /soul apply, or never.',
  ),
  vetoHours: numberField(
    { min: 0, max: 24 * 30, default: 24 },
    'How long an owner can say no before it comes into use by itself.',
  ),
  humanEdits: defineChoice(
    ['until-first-proposal', 'propose', 'seed-only'],
    'What happens to a text that a person writes once there is a SOUL.md. propose: it becomes a proposal, evaluated like the agent’s own. seed-only: it is refused and kept to copy from; only the agent proposes. until-first-proposal: propose until the first proposal of the agent has been applied, seed-only from then on.',
  ),
  judge: z
    .union([z.boolean(), z.string().min(1)])
    .default('auto')
    .describe(
      'true: the model tries each new text in some situations and judges its answers; the name of a model: that one of the same provider judges. false: fixed rules alone. auto: true where the settings name a model.',
    ),
});

const TIME = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d`;

/** `heartbeat`: when the agent runs its standing tasks, and how it reports them (H01–H05). */
export const Heartbeat = defineSection(
  'Standing tasks of HEARTBEAT.md, looked after between messages.',
  {
    enabled: flag(
      true,
      'false: never. Without tasks in HEARTBEAT.md nothing is asked of the model anyway.',
    ),
    everyMinutes: wholeNumber(
      { min: 5, max: 24 * 60, default: 30 },
      'How often it looks which task is due. At least 5.',
    ),
    notify: z
      .string()
      .regex(/^(last|[a-z][a-z0-9-]*:\S+)$/, 'last, or an owner such as telegram:123456789')
      .default('last')
      .describe(
        'Where alerts go: the direct chat of an owner (channel:userId), or last, the one in which an owner wrote most recently.',
      ),
    quietHours: z
      .string()
      .regex(new RegExp(`^(off|${TIME}-${TIME})$`), 'off, or from-to such as 22:00-07:00')
      .default('22:00-07:00')
      .describe('Alerts wait until these are over, in the time zone of the agent.'),
    repeatHours: numberField(
      { min: 0, max: 24 * 30, default: 24 },
      'The same alert is not sent again within these hours.',
    ),
    tokensPerDay: wholeNumber(
      { above: 0, default: 250_000 },
      'What all runs of a day may use together, in tokens; then the rest waits.',
    ),
    steps: wholeNumber(
      { min: 1, max: 50, default: 10 },
      'How often the model is asked in one run.',
    ),
    quietMaxCharacters: wholeNumber(
      { min: 0, max: 4_000, default: 300 },
      'Text beside HEARTBEAT_OK at the start or end of an answer counts as quiet up to this length.',
    ),
    memoryUpkeepDays: wholeNumber(
      { min: 1, max: 60, default: 7 },
      'Daily notes that the upkeep of MEMORY.md reads.',
    ),
    memoryTokens: wholeNumber(
      { min: 200, max: 100_000, default: 4_000 },
      'The upkeep trims a MEMORY.md that is longer than this, in tokens.',
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
      'Who may have the agent do things at certain times: owners in any chat, or everyone who may write there.',
    ),
    minMinutes: wholeNumber(
      { min: 1, max: 24 * 60, default: 5 },
      'The shortest time between two runs of a job.',
    ),
    perConversation: wholeNumber({ min: 1, max: 1_000, default: 20 }, 'Jobs of one conversation.'),
    total: wholeNumber({ min: 1, max: 10_000, default: 200 }, 'Jobs in all.'),
  },
);

const SERVICE = {
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:8000/v1' })
    .describe('Of a service that speaks OpenAI’s protocol; usually ends in /v1.'),
  apiKey: z.string().min(1).optional().describe('Only if the service needs one.'),
};

const Transcription = z
  .strictObject({ ...SERVICE, model: z.string().min(1).describe('Such as whisper-1.') })
  .describe('The service that turns voice messages into text; without it they are not understood.');

const Speech = z
  .strictObject({
    ...SERVICE,
    model: z.string().min(1).describe('Such as tts-1.'),
    voice: z.string().min(1).default('alloy').describe('One of the voices of the service.'),
    format: defineChoice(
      ['opus', 'mp3', 'flac', 'wav'],
      'Of the recordings; Telegram and WhatsApp play Opus as voice notes.',
    ),
    maxCharacters: wholeNumber(
      { min: 100, max: 4_096, default: 1_500 },
      'Longest text that is spoken; of a longer one its beginning.',
    ),
    when: defineChoice(
      ['voice', 'never', 'always'],
      'Which answers are spoken as well: to voice messages, none, or all.',
    ),
  })
  .describe('The service that speaks answers; without it they are text alone.');

/** `media`: which files in messages are accepted, and how long they are kept. */
export const Media = defineSection('Pictures, voice messages and documents that people send.', {
  maxFileMb: numberField(
    { above: 0, max: 100, default: 20 },
    'Largest file that is taken from a message, in megabytes.',
  ),
  maxMessageMb: numberField(
    { above: 0, max: 200, default: 50 },
    'All files of one message together, in megabytes.',
  ),
  maxKeptMb: numberField(
    { min: 200, default: 2_000 },
    'All files that are kept at a time, for a day at most, in megabytes.',
  ),
  maxPersonMb: numberField(
    { min: 1, default: 200 },
    'Files of one person that are kept at a time, in megabytes; at least those of one message. Owners have no such limit in their direct chats.',
  ),
  maxPersonFiles: wholeNumber(
    { min: 32, max: 10_000, default: 200 },
    'The same as a number of files.',
  ),
  maxCharacters: wholeNumber(
    { min: 1_000, max: 1_000_000, default: 30_000 },
    'What the model is shown of the documents of one turn, in characters.',
  ),
  // Anthropic scales larger pictures down itself, which costs time
  // (https://docs.anthropic.com/en/docs/vision).
  maxImageDimension: wholeNumber(
    { min: 512, max: 4_096, default: 1_568 },
    'Longest side of a picture that the model is shown, in pixels; larger ones are made smaller.',
  ),
  transcription: Transcription.optional(),
  speech: Speech.optional(),
});
