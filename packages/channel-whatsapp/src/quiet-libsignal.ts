/** Stack frames of libsignal, wherever it is installed. */
const LIBSIGNAL = /[/\\]node_modules[/\\](?:[^\n]*[/\\])?libsignal[/\\]/;
const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const;

/**
 * libsignal prints whole sessions, private keys included, through the console. What it prints, told
 * by where the call comes from, goes nowhere. To be called before Baileys is first imported, and
 * kept until the process ends; `on` is for tests.
 * @returns puts the console back.
 */
export function quietLibsignal(on: Console = console): () => void {
  const before = METHODS.map((method) => [method, on[method]] as const);
  for (const [method, print] of before) {
    on[method] = (...values: unknown[]) => {
      if (!isCalledByLibsignal()) print.apply(on, values);
    };
  }
  return () => {
    for (const [method, print] of before) on[method] = print;
  };
}

/** Line 0 names the error, 1 is this function, 2 the wrapper, 3 whoever prints. */
function isCalledByLibsignal(): boolean {
  const frames = new Error('who prints').stack?.split('\n') ?? [];
  return LIBSIGNAL.test(frames[3] ?? '');
}
