import { z } from 'zod';

/** The name of a file that an operator wrote, without folder and ending. */
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
    return false; // Intl says "unknown zone" by throwing, and has no other way to ask.
  }
}

/** `agent`: who answers, from where and how. */
export const Agent = z
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
