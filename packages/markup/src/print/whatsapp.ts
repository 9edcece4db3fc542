import type { Leaf } from '../document.ts';
import { printPlain } from './plain.ts';
import type { Printed } from './printed.ts';

/** Prints WhatsApp's dialect. For now without any marks. */
export function printWhatsApp(leaves: readonly Leaf[]): Printed {
  return printPlain(leaves);
}
