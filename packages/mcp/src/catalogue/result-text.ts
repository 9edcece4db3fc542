import { z } from 'zod';
import { cleanLine, cleanLines } from '../clean-text.ts';

/** What came of a call, as text. `failed`: the server says that it did not work. */
export interface McpResult {
  readonly text: string;
  readonly failed: boolean;
}

const Part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), mimeType: z.string().catch('') }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ uri: z.string(), text: z.string() }),
  }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().catch('') }),
  z.object({ type: z.string() }),
]);
type Part = z.infer<typeof Part>;

const Result = z.object({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().catch(false),
});

/** What a model can be shown of a result; the length is bounded by whoever shows it. */
export function resultText(said: unknown): McpResult {
  const { content, structuredContent, isError } = Result.parse(said);
  const parts = content.map((part) => {
    const read = Part.safeParse(part);
    return read.success ? partText(read.data) : '[A part that cannot be read.]';
  });
  // Well-behaved servers say the same twice, as text and as values.
  if (parts.length === 0 && structuredContent !== undefined) {
    parts.push(JSON.stringify(structuredContent));
  }
  return { text: cleanLines(parts.join('\n')), failed: isError };
}

function partText(part: Part): string {
  if ('text' in part) return part.text;
  if ('resource' in part) return `[${cleanLine(part.resource.uri, 500)}]\n${part.resource.text}`;
  if ('uri' in part) return `[Link: ${cleanLine(`${part.name} ${part.uri}`, 500)}]`;
  if ('mimeType' in part) return `[${part.type} (${cleanLine(part.mimeType, 80)}): not shown]`;
  return `[${cleanLine(part.type, 80)}: not shown]`;
}
