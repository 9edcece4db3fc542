import { type Logger, reasonOf } from '@parley/contracts';

/** Where the code of a plugin lies, and how the settings name it. */
export interface PluginPlace {
  readonly use: string;
  /** Absolute, without links. */
  readonly folder: string;
}

/** Keeps the process alive when a plugin throws where nobody waits. */
export interface Containment {
  /** To be called before any code of the plugin runs. */
  add(place: PluginPlace): void;
  stop(): void;
}

/**
 * An error that nobody catches is logged and survived where it comes from the code of a plugin: from a
 * timer or an event of its own (P16). Every other one ends the process as ever.
 */
export function containPlugins(log: Logger): Containment {
  const places: PluginPlace[] = [];
  const onError = (error: unknown): void => {
    const plugin = culprit(error, places);
    // Node prints it and ends the process, as it does without this listener.
    if (plugin === undefined) throw error;
    log.error({ plugin, reason: reasonOf(error) }, 'a plugin threw where nobody waited for it');
  };
  return {
    add(place) {
      if (places.length === 0) process.on('uncaughtException', onError);
      places.push(place);
    },
    stop: () => void process.off('uncaughtException', onError),
  };
}

/** The plugin whose code is on the stack of an error; undefined where none is, or there is no stack. */
export function culprit(error: unknown, places: readonly PluginPlace[]): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.find(({ folder }) => frames.some((frame) => frame.includes(`${folder}/`)))?.use;
}
