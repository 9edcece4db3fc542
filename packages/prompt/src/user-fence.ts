import { mayRead, type Reader } from '@parley/contracts';
import type { LayerId, Rendering } from './layer.ts';
import { ephemeralLayer } from './layers/ephemeral-layer.ts';
import type { Layout } from './layout.ts';

type Fence = NonNullable<Layout['userFence']>;

/**
 * Puts the layout's fence around what stands before the person's words. Text inside that looks like
 * one of its two lines gets another first bracket, so that nothing can close the fence early (P18).
 */
export function fenceUser(
  renderings: readonly Rendering[],
  reader: Reader,
  { userFence }: Layout,
): readonly Rendering[] {
  if (userFence === undefined) return renderings;
  const shown = renderings.filter((rendering) => isShown(rendering, reader));
  const first = shown[0];
  const last = shown.at(-1);
  if (first === undefined || last === undefined) return renderings;
  return renderings.flatMap((rendering) => [
    ...(rendering === first
      ? [lineOf('context-begin', `${userFence.open}\n${userFence.note}`)]
      : []),
    disarm(rendering, userFence),
    ...(rendering === last ? [lineOf('context-end', userFence.close)] : []),
  ]);
}

/** The ephemeral prompt stays outside: it is an instruction, and the last one (P13). */
function isShown({ layer, placement, output }: Rendering, reader: Reader): boolean {
  if (placement !== 'user' || layer === ephemeralLayer.id) return false;
  return 'text' in output && mayRead(reader, output.audience);
}

function lineOf(layer: LayerId, text: string): Rendering {
  const output = { text, source: 'Parley', audience: { kind: 'everyone' } } as const;
  return { layer, placement: 'user', changes: false, output };
}

function disarm(rendering: Rendering, { open, close }: Fence): Rendering {
  const { placement, output } = rendering;
  if (placement !== 'user' || !('text' in output)) return rendering;
  const text = [open, close].reduce(
    (words, line) => words.replace(anyCase(line), (found) => `(${found.slice(1)}`),
    output.text,
  );
  return { ...rendering, output: { ...output, text } };
}

function anyCase(line: string): RegExp {
  return new RegExp(line.replace(/[^\w\s]/g, '\\$&'), 'gi');
}
