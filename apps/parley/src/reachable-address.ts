/**
 * The address under which this machine reaches a server that listens on all of its addresses:
 * `http://0.0.0.0:7411` cannot be opened in every browser. Other addresses stay as they are.
 */
export function reachableAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
