import type { SocketConfig } from '@whiskeysockets/baileys';

/** A logger for Baileys that discards everything. */
export function createSilentLogger(): SocketConfig['logger'] {
  const nothing = () => {};
  return {
    level: 'silent',
    child: () => createSilentLogger(),
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
  };
}

const LIBSIGNAL_LINES = [
  'Closing session:',
  'Closing open session in favor of incoming prekey bundle',
  'Opening session:',
  'Removing old closed session:',
  'Session already closed',
  'Session already open',
  'Decrypted message with closed session.',
  'Failed to decrypt message with any known session...',
  'Session error:',
];

/**
 * libsignal prints whole sessions, including private keys, through `console`. The function
 * suppresses those lines; in tests the keys belong to invented people.
 * @returns a function that restores the console
 */
export function silenceLibsignal(): () => void {
  const { info, warn, error } = console;
  const quiet =
    (print: typeof console.info): typeof console.info =>
    (...values) => {
      const [first] = values;
      const isNoise =
        typeof first === 'string' && LIBSIGNAL_LINES.some((line) => first.startsWith(line));
      if (!isNoise) print.apply(console, values);
    };
  console.info = quiet(info);
  console.warn = quiet(warn);
  console.error = quiet(error);
  return () => {
    console.info = info;
    console.warn = warn;
    console.error = error;
  };
}
