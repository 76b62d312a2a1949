// Browsers refuse a worker's script from a file:// page, and the search of the site is a worker. There, an empty frame
// of the same origin runs the script instead. Zensical would load such a stand-in from the network; the name of this
// file tells it that there is one.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      const script = inside.document.createElement("script")
      script.src = new URL(url, location)
      this.ready = new Promise(done => script.addEventListener("load", done))
      const tell = (kind, more) => // later, as a worker would: not while the page handles an input
        setTimeout(() => {
          const event = new MessageEvent(kind, more)
          this.dispatchEvent(event)
          this[`on${kind}`]?.(event)
        })
      inside.postMessage = data => tell("message", { data: structuredClone(data) })
      script.addEventListener("error", () => tell("error", { cancelable: true }))
      inside.document.body.append(script)
    }
    postMessage(data) {
      const event = new MessageEvent("message", { data: structuredClone(data) })
      this.ready.then(() => setTimeout(() => this.frame.contentWindow?.dispatchEvent(event)))
    }
    terminate() {
      this.frame.remove()
    }
  }
