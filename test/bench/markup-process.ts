import { enableCompileCache } from 'node:module';
import {
  CONVERTERS,
  type ConverterName,
  loadConverter,
  loadGrowing,
  loadParley,
} from './converters.ts';

/**
 * The documents to convert, and the number of conversions. The first document is used for the first
 * call.
 */
export interface MarkupOrder {
  readonly converter: ConverterName | 'discord' | 'whatsapp' | 'plain' | 'html';
  readonly texts: readonly string[];
  /** Warm calls for 1,000 characters of text; longer text needs fewer calls. */
  readonly repetitions: number;
  /** An answer that arrives in pieces of 20 characters, each of which is shown immediately. */
  readonly growing: string;
  readonly compileCache: string;
}

/**
 * Times in ms: of the first call including loading the library, of the warm calls for each
 * document, and of a whole growing answer for Telegram converters.
 */
export interface MarkupTimes {
  readonly first: number;
  readonly warm: readonly (readonly number[])[];
  readonly grown?: number;
}

process.on('message', async (order: MarkupOrder) => {
  try {
    process.send?.({ result: await measureOrder(order) });
  } catch (error) {
    process.send?.({ failure: error instanceof Error ? error.message : String(error) });
  }
});

async function measureOrder(order: MarkupOrder): Promise<MarkupTimes> {
  // Parley enables the compile cache itself; this benchmark enables it for all converters.
  enableCompileCache(order.compileCache);
  const before = performance.now();
  const convert = await loadOrderedConverter(order.converter);
  convert(order.texts[0] ?? '');
  const first = performance.now() - before;
  const warm = order.texts.map((text) => {
    const times: number[] = [];
    const calls = Math.ceil(order.repetitions / Math.sqrt(text.length / 1_000));
    // The first half is for warming up.
    for (let call = -calls; call < calls; call += 1) {
      const start = performance.now();
      convert(text);
      if (call >= 0) times.push(performance.now() - start);
    }
    return times;
  });
  const telegram = CONVERTERS.find((name) => name === order.converter);
  if (telegram === undefined || order.repetitions === 0) return { first, warm };
  return { first, warm, grown: await timeGrowing(telegram, order.growing) };
}

const PIECE = 20;

async function timeGrowing(name: ConverterName, text: string): Promise<number> {
  const showNext = await loadGrowing(name);
  const start = performance.now();
  for (let at = 0; at < text.length; at += PIECE) await showNext(text.slice(at, at + PIECE));
  return performance.now() - start;
}

function loadOrderedConverter(name: MarkupOrder['converter']) {
  switch (name) {
    case 'discord':
      return loadParley(name, 2000);
    case 'whatsapp':
      return loadParley(name, 4000);
    case 'plain':
    case 'html':
      return loadParley(name, 4_000_000);
    default:
      return loadConverter(name);
  }
}
