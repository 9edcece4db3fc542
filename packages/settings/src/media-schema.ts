import { z } from 'zod';

const Transcription = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'a web address, such as http://127.0.0.1:8000/v1' })
      .describe('Of a service that speaks OpenAI’s protocol; usually ends in /v1.'),
    apiKey: z.string().min(1).optional(),
    model: z.string().min(1).describe('Such as whisper-1.'),
  })
  .describe('The service that turns voice messages into text; without it they are not understood.');

/** `media`: which files are taken from messages, and how long they are kept. */
export const Media = z
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
