import { z } from 'zod';

const Fetch = z
  .strictObject({
    enabled: z.boolean().default(true).describe('false: the agent reads no pages.'),
    approval: z
      .enum(['never', 'after-foreign-words', 'unknown', 'always'])
      .default('after-foreign-words')
      .describe(
        'When somebody has to say yes: never; to addresses that nobody wrote, no search found and no page of the same site links to, once words of outsiders were read in the turn; in an owner’s direct chat to addresses that nobody wrote and no search found; or to every page.',
      ),
    ports: z
      .array(z.int().min(1).max(65_535))
      .min(1)
      .default([80, 443])
      .describe('Ports of the public internet that are asked.'),
    seconds: z.int().min(1).max(60).default(20).describe('How long a page may take to come.'),
    maxMb: z.number().positive().max(50).default(5).describe('Largest page, in megabytes.'),
    maxCharacters: z
      .int()
      .min(500)
      .max(200_000)
      .default(15_000)
      .describe('What the model is shown of a page at a time.'),
  })
  .prefault({})
  .describe('Pages as text. Private addresses are never asked, whatever stands here.');

const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'a web address, such as http://127.0.0.1:8080',
});

const Search = z
  .strictObject({
    results: z.int().min(1).max(20).default(6).describe('How many the model is shown.'),
    searxng: z
      .strictObject({
        baseUrl: WebAddress.describe('Of an instance that has json in search.formats.'),
        language: z.string().min(2).max(20).optional().describe('Such as de or zh-CN.'),
      })
      .optional()
      .describe('A search engine that you can run yourself; asked first.'),
    brave: z
      .strictObject({ apiKey: z.string().min(1), baseUrl: WebAddress.optional() })
      .optional()
      .describe('Brave Search; asked where there is no SearXNG, or it fails.'),
  })
  .prefault({})
  .describe('Search engines; without one the agent cannot search.');

/** What the agent may read on the web (G02, G06). */
export const Web = z
  .strictObject({ fetch: Fetch, search: Search })
  .prefault({})
  .describe('The web.');
export type Web = z.infer<typeof Web>;
