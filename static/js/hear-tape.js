// Runs beside the page: hands what the microphone gives to it, block by block.

class Tape extends AudioWorkletProcessor {
  process([input]) {
    if (input[0]) this.port.postMessage(input[0].slice());
    return true;
  }
}
registerProcessor("tape", Tape);
