import { parse } from 'discord-markdown-parser';
import { z } from 'zod';

interface SeenRun {
  readonly text: string;
  readonly formats: ReadonlySet<string>;
}

type Node = {
  readonly type: string;
  readonly content?: string | readonly Node[] | undefined;
  readonly id?: string | undefined;
};

const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    type: z.string(),
    content: z.union([z.string(), z.array(Node)]).optional(),
    id: z.string().optional(),
  }),
);

const FORMAT: Readonly<Record<string, string>> = {
  strong: 'bold',
  em: 'italic',
  underline: 'underline',
  strikethrough: 'strike',
  spoiler: 'spoiler',
  inlineCode: 'code',
  codeBlock: 'code',
  blockQuote: 'quote',
};

/** What the package `discord-markdown-parser` sees: written by others, from the same sources. */
export function readSecondOpinion(text: string): SeenRun[] {
  return z
    .array(Node)
    .parse(parse(text))
    .flatMap((node) => runsOf(node, new Set()));
}

function runsOf({ type, content, id }: Node, outer: ReadonlySet<string>): SeenRun[] {
  if (type === 'user') return [{ text: `<@${id}>`, formats: new Set([...outer, 'live']) }];
  if (type === 'br') return [];
  const format = FORMAT[type];
  if (format === undefined && type !== 'text') throw new Error(`unknown: ${type}`);
  const formats = format === undefined ? outer : new Set([...outer, format]);
  if (typeof content === 'string') return [{ text: content, formats }];
  return (content ?? []).flatMap((node) => runsOf(node, formats));
}
