import type { ChannelAdapter } from './adapter.ts';

/**
 * Where an adapter has what it does not declare, or declares what it does not have (F04). Empty: it
 * keeps its word. What the core offers people follows the declaration alone.
 */
export function undeclared(adapter: ChannelAdapter): readonly string[] {
  const { capabilities, typing, streaming, messages } = adapter;
  const pairs: readonly [name: string, declared: boolean, there: boolean][] = [
    ['typing', capabilities.typing, typing !== undefined],
    ['streaming', capabilities.streaming !== 'none', streaming !== undefined],
    ['edit', capabilities.edit, messages?.edit !== undefined],
    ['delete', capabilities.delete, messages?.delete !== undefined],
    ['react', capabilities.react, messages?.react !== undefined],
  ];
  return pairs.flatMap(([name, declared, there]) => {
    if (declared === there) return [];
    return [declared ? `"${name}" is declared and missing` : `"${name}" is there and not declared`];
  });
}
