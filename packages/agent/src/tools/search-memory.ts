import type { MemorySearch } from '@parley/workspace';
import { z } from 'zod';
import { memoryWords } from '../memory/memory-source.ts';
import { defineTool, type Tool } from './tool.ts';

const MOST = 10;
/** Of one hit, in characters. */
const LENGTH = 600;

/** Looks up what was remembered, as far as this reader may see it (G14). */
export function searchMemoryTool(search: MemorySearch): Tool {
  return defineTool({
    name: 'search_memory',
    summary: 'Finds saved memories, notes and knowledge by words.',
    hint: 'A few telling words, in the language in which it was said. Try other words when nothing is found.',
    tier: 'knowledge-base',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    input: z.object({
      query: z.string().min(1).max(500).describe('What to look for.'),
      limit: z.int().min(1).max(MOST).optional().describe('Most hits; 5 when left out.'),
    }),
    async run({ query, limit = 5 }, { view, session }) {
      const { conversationId: conversation } = view.reader;
      const hits = await search.find(view, query, { conversation, session, most: limit });
      if (hits.length === 0) return { text: 'Nothing was found.' };
      return { text: hits.map((hit) => `- ${memoryWords(hit, LENGTH)}`).join('\n') };
    },
  });
}
