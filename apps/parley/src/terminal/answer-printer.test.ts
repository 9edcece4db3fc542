import { describe, expect, it } from 'vitest';
import { createAnswerPrinter } from './answer-printer.ts';

describe('what the terminal writes of an answer', () => {
  it('[F12] shows finished blocks while the answer grows, and the rest at its end, once', () => {
    const printer = createAnswerPrinter();
    expect(printer.grow('t', 'One')).toBe('');
    expect(printer.grow('t', 'One.\n\nTw')).toBe('One.\n\n');
    expect(printer.grow('t', 'One.\n\nTwo.\n\nThr')).toBe('Two.\n\n');
    expect(printer.finish('p', 't', 'One.\n\nTwo.\n\nThree.')).toBe('Three.\n\n');
    expect(printer.finish('p', 't', 'One.\n\nTwo.\n\nThree.')).toBe('');
  });

  it('[F12] writes the whole answer again when its beginning came out differently', () => {
    const printer = createAnswerPrinter();
    printer.grow('t', 'Draft.\n\nmore');
    expect(printer.finish('p', 't', 'Final.')).toBe('\nFinal.\n\n');
  });

  it('shows nothing that was said before the terminal was opened', () => {
    const printer = createAnswerPrinter();
    printer.skip('old');
    expect(printer.finish('old', null, 'yesterday')).toBe('');
  });

  it('keeps the answers of two turns apart', () => {
    const printer = createAnswerPrinter();
    printer.grow('a', 'A1\n\nA');
    printer.grow('b', 'B1\n\nB');
    expect(printer.finish('p', 'b', 'B1\n\nB2')).toBe('B2\n\n');
    expect(printer.finish('q', 'a', 'A1\n\nA2')).toBe('A2\n\n');
  });
});
