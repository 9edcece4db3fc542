import { describe, expect, it } from 'vitest';
import { silenceLibsignal } from './logs.ts';

/**
 * A console that records its output, and functions that print to it from a file with the given
 * name.
 */
function scene() {
  const printed: unknown[] = [];
  const note = (...values: unknown[]) => void printed.push(values);
  const on: Console = Object.assign(Object.create(console), {
    debug: note,
    info: note,
    log: note,
    warn: note,
    error: note,
  });
  const printFrom = (file: string, method: 'info' | 'warn' | 'error', words: string) => {
    // The name from `sourceURL` appears in the stack trace.
    const print = new Function('on', `on.${method}('${words}');\n//# sourceURL=${file}`);
    print(on);
  };
  return { on, printed, printFrom };
}

describe('libsignal', () => {
  it('drops all output from libsignal and prints output from other callers', () => {
    const { on, printed, printFrom } = scene();
    const undo = silenceLibsignal(on);
    printFrom('/app/node_modules/libsignal/src/session_record.js', 'info', 'Closing session:');
    printFrom('C:/x/node_modules/a/node_modules/libsignal/src/x.js', 'warn', 'new words');
    printFrom('/app/libsignal/mine.js', 'info', 'not installed');
    on.error('mine');
    expect(printed).toEqual([['not installed'], ['mine']]);
    undo();
    printFrom('/app/node_modules/libsignal/src/session_record.js', 'info', 'again');
    expect(printed).toHaveLength(3);
  });
});
