import { reasonOf } from '@parley/contracts';
import { z } from 'zod';
import { cleanLine } from '../clean-text.ts';
import type { McpCatalogue, McpPrompt, McpRefused, McpTool } from './catalogue.ts';
import { cleanSchema } from './clean-schema.ts';

/** Tools and prompts of one server that are taken; a model is lost among more. */
const MOST = 128;
const LONGEST_NAME = 200;
/** Of a description, in characters. */
const LONGEST = 1_000;

const Name = z.string().min(1).max(LONGEST_NAME);
const Tool = z.object({
  name: Name,
  description: z.string().catch(''),
  inputSchema: z.unknown().optional(),
  annotations: z.object({ readOnlyHint: z.boolean().catch(false) }).catch({ readOnlyHint: false }),
});
const Prompt = z.object({
  name: Name,
  description: z.string().catch(''),
  arguments: z
    .array(
      z.object({ name: z.string().regex(/^[\w-]{1,64}$/), required: z.boolean().catch(false) }),
    )
    .max(20)
    .default([]),
});

/** What a server has said, one entry at a time: what is no good is left out and told. */
export function readCatalogue(
  tools: readonly unknown[],
  prompts: readonly unknown[],
): McpCatalogue {
  const refused: McpRefused[] = [];
  const read = <Entry extends { readonly name: string }>(
    said: readonly unknown[],
    kind: string,
    make: (entry: unknown) => Entry,
  ): readonly Entry[] => {
    const found = new Map<string, Entry>();
    for (const entry of said.slice(0, MOST)) {
      try {
        const made = make(entry);
        if (found.has(made.name)) throw new Error('there are two of this name');
        found.set(made.name, made);
      } catch (error) {
        refused.push({ what: `${kind} ${nameOf(entry)}`, reason: wordsOf(error) });
      }
    }
    const more = said.length - MOST;
    if (more > 0) refused.push({ what: `${more} more`, reason: `at most ${MOST} are taken` });
    // In an order of ours: a server that shuffles must not cost the prompt its cache.
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    tools: read(tools, 'tool', toolOf),
    prompts: read(prompts, 'prompt', promptOf),
    refused,
  };
}

function toolOf(entry: unknown): McpTool {
  const { name, description, inputSchema, annotations } = Tool.parse(entry);
  return {
    name,
    description: cleanLine(description, LONGEST),
    schema: cleanSchema(inputSchema),
    readOnly: annotations.readOnlyHint,
  };
}

function promptOf(entry: unknown): McpPrompt {
  const { name, description, arguments: args } = Prompt.parse(entry);
  return { name, description: cleanLine(description, LONGEST), arguments: args };
}

function nameOf(entry: unknown): string {
  const { name } = z.object({ name: z.string() }).safeParse(entry).data ?? {
    name: 'without a name',
  };
  return cleanLine(name, 80);
}

function wordsOf(error: unknown): string {
  return error instanceof z.ZodError ? 'it is not as the protocol says' : reasonOf(error);
}
