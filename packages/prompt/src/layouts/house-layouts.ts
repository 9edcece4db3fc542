import type { Layout } from '../layout.ts';
import { PromptError } from '../prompt-error.ts';
import { lab } from './lab.ts';
import { mushroom } from './mushroom.ts';
import { neomagi } from './neomagi.ts';
import { openclaw } from './openclaw.ts';
import { parley } from './parley.ts';
import { zeus } from './zeus.ts';

/** All layouts that can be named in the settings (P03). */
export const HOUSE_LAYOUTS: readonly Layout[] = [parley, mushroom, lab, zeus, openclaw, neomagi];

/** The layout of that name. Throws PromptError `layout-unknown` naming those that exist. */
export function layoutNamed(name: string): Layout {
  const layout = HOUSE_LAYOUTS.find((candidate) => candidate.name === name);
  if (layout !== undefined) return layout;
  const names = HOUSE_LAYOUTS.map((candidate) => candidate.name).join(', ');
  throw new PromptError(
    'layout-unknown',
    `There is no prompt layout "${name}". Set agent.layout to one of: ${names}.`,
  );
}
