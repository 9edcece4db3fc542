/** Makes a function that calls back once after `ms` and gives back how to call it off; it keeps no process alive. */
export function laterBy(ms: number): (work: () => void) => () => void {
  return (work) => {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  };
}
