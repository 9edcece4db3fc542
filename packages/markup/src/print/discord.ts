import type { Leaf } from '../document.ts';
import { printPlain } from './plain.ts';
import type { Printed } from './printed.ts';

/** Prints Discord's dialect. For now without any marks. */
export function printDiscord(leaves: readonly Leaf[]): Printed {
  return printPlain(leaves);
}
